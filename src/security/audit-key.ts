import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { formatPrivateKey, isKeyName, type NoteSigner, parsePrivateKey } from "../core/audit/proof/note.ts";
import { checkText } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";

/**
 * Who signs tree heads and reports. Make one with {@link auditKey}, {@link envAuditKey} or {@link fileAuditKey}, or
 * write your own whose `sign` asks a key service.
 */
export type AuditKey = NoteSigner;

const refused = (source: string, problem: string): HoldfastError =>
  new HoldfastError("HF-3200", { source, problem });

/** Makes a private key for the audit log. Its name goes with every signature: a host name and a path are usual. */
export function newAuditKey(name: string): { readonly privateKey: string; readonly publicKey: string } {
  checkText("name", name, 1);
  if (!isKeyName(name)) throw refused("newAuditKey", "its name must not have spaces or '+' in it");
  const privateKey = formatPrivateKey(name, randomBytes(32));
  return { privateKey, publicKey: auditKey(privateKey).publicKey };
}

/**
 * A signer from the text of a private key (`PRIVATE+KEY+…`).
 *
 * @example
 * ```ts
 * import { auditKey, newAuditKey, signText, verifyText } from "holdfast/security";
 *
 * const { privateKey, publicKey } = newAuditKey("example.com/audit");
 * const note = await signText("example.com/report\nAll is well.\n", auditKey(privateKey));
 * console.log(verifyText(note, [publicKey]).text);
 * ```
 */
export const auditKey = (text: string): AuditKey => keyIn("the given text", checkText("text", text, 1));

/** A signer from an environment variable, which holds the text of a private key. */
export function envAuditKey(variable = "HOLDFAST_AUDIT_KEY"): AuditKey {
  checkText("variable", variable, 1);
  const text = process.env[variable];
  if (!text) throw refused(variable, "it is not set");
  return keyIn(variable, text);
}

const OTHERS = 0o077;

/** A signer from a file with the text of a private key. A file that other users may read is refused. */
export function fileAuditKey(file: string): AuditKey {
  checkText("file", file, 1);
  let text: string;
  let mode: number;
  try {
    // Checks and reads the same file, even if it is replaced in the meantime.
    const handle = openSync(file, "r");
    try {
      mode = fstatSync(handle).mode;
      text = readFileSync(handle, "utf8");
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    throw refused(file, `it can't be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
  }
  if (process.platform !== "win32" && (mode & OTHERS) !== 0)
    throw refused(file, "others may read or write the file");
  return keyIn(file, text);
}

function keyIn(source: string, text: string): AuditKey {
  const signer = parsePrivateKey(text);
  if (signer) return signer;
  throw refused(source, "it isn't a private key of the form PRIVATE+KEY+name+id+base64");
}
