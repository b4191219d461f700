import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { BundleCheck } from "../core/audit/proof/bundle.ts";
import { parseHeads } from "../core/audit/proof/checkpoint.ts";
import type { Anchor } from "../core/audit/proof/log-check.ts";
import { type NoteKey, parsePublicKey } from "../core/audit/proof/note.ts";
import { type AuditVerification, verificationText } from "../core/audit/proof/result.ts";

/**
 * The offline verifier: `node verify-audit.mjs <bundle> [--key <public key>]… [--anchor <file>]… [--json]`. It is built
 * into one file that needs nothing but Node, so that an auditor can read it and run it without the rest of Holdfast.
 */

const USAGE = `Verifies an audit bundle of "holdfast audit export".

  node verify-audit.mjs <bundle> [--key <public key>]... [--anchor <file>]... [--json]

  --key     a public key that you trust, as name+id+base64; without one, the key is taken from the log
  --anchor  a file of signed heads that was kept outside the store

Exit codes: 0 nothing found, 1 something was changed, 2 it couldn't be read.
`;

interface Asked {
  readonly bundle: string;
  readonly keys: readonly NoteKey[];
  readonly anchors: readonly Anchor[];
  readonly isJson: boolean;
}

function asked(args: readonly string[]): Asked | string {
  const keys: NoteKey[] = [];
  const anchors: Anchor[] = [];
  let [bundle, isJson] = ["", false];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    const next = args[at + 1] ?? "";
    if (word === "--json") isJson = true;
    else if (word === "--key") {
      const key = parsePublicKey(next);
      // What was given may be the private key, which is never repeated.
      if (!key) return "What follows --key isn't a public key of the form name+id+base64.";
      keys.push(key);
      at++;
    } else if (word === "--anchor") {
      const { heads } = parseHeads(readFileSync(next, "utf8"));
      if (heads.length === 0) return `${next} has no signed heads in it.`;
      anchors.push({ name: next, heads });
      at++;
    } else if (word.startsWith("-") || bundle !== "") return USAGE;
    else bundle = word;
  }
  return bundle === "" ? USAGE : { bundle, keys, anchors, isJson };
}

/** Verifies a bundle file, line by line. */
export async function verifyBundle({
  bundle,
  keys,
  anchors,
}: Omit<Asked, "isJson">): Promise<AuditVerification> {
  const check = new BundleCheck({ keys, anchors });
  const lines = createInterface({ input: createReadStream(bundle), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) check.take(line);
  return check.finish();
}

export async function main(args: readonly string[]): Promise<number> {
  try {
    const given = asked(args);
    if (typeof given === "string") {
      process.stderr.write(`${given}\n`);
      return 2;
    }
    const found = await verifyBundle(given);
    const text = given.isJson ? JSON.stringify(found, null, 2) : verificationText(found);
    process.stdout.write(`${text}\n`);
    return found.ok ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
}
