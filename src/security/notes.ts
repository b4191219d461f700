import { looksLikeHead } from "../core/audit/proof/checkpoint.ts";
import {
  isNoteText,
  type NoteKey,
  type NoteSigner,
  parseNote,
  parsePublicKey,
  signatureLine,
  signersOf,
} from "../core/audit/proof/note.ts";
import { badOption, checkText } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";

/** What a signed text says, and who has signed it. */
export interface VerifiedText {
  readonly text: string;
  /** The public keys among the trusted ones that have signed it: at least one. */
  readonly signedBy: readonly string[];
}

/**
 * Signs a text as a C2SP signed note: the text, an empty line, and a line with the signature. The text ends with a line
 * feed and has no other control characters. A text that could pass for the head of the audit log is refused (HF-3201).
 */
export async function signText(text: string, ...signers: readonly NoteSigner[]): Promise<string> {
  checkText("text", text, 1);
  if (!isNoteText(text))
    throw unsignable(
      "it doesn't end with a line feed, or has control characters in it",
      "End it with a line feed, and take out tabs and other control characters, or sign its digest instead.",
    );
  if (looksLikeHead(text))
    throw unsignable(
      "its second line is a number, as in the head of a log",
      "Begin it with a line that says what it is, and a second one that isn't a number.",
    );
  if (signers.length === 0) throw unsignable("there is no key", "Give at least one key to sign it with.");
  const lines: string[] = [];
  for (const signer of signers) {
    checkSigner(signer);
    const line = await signatureLine(text, signer);
    if (line === undefined)
      throw new HoldfastError("HF-3200", {
        source: signer.publicKey.slice(0, 60),
        problem: "it doesn't make signatures that its public key verifies",
      });
    lines.push(line);
  }
  return `${text}\n${lines.join("")}`;
}

function checkSigner(signer: unknown): asserts signer is NoteSigner {
  const { publicKey, sign } = { ...(signer as Partial<NoteSigner> | undefined) };
  if (typeof publicKey !== "string" || typeof sign !== "function")
    throw badOption("signer", "it must be an audit key, such as auditKey(text) makes");
}

const unsignable = (problem: string, fix: string): HoldfastError =>
  new HoldfastError("HF-3201", { problem, fix });

/** The text of a signed note, if at least one of these public keys has signed it; otherwise HF-3202. */
export function verifyText(note: string, publicKeys: readonly string[]): VerifiedText {
  checkText("note", note, 1);
  if (!Array.isArray(publicKeys)) throw badOption("publicKeys", "it must be a list of public keys");
  const known = publicKeys.map(readKey);
  const parsed = parseNote(note);
  if (!parsed) throw unproven("it isn't a signed note");
  const signers = signersOf(parsed, known);
  if (!signers) throw unproven("the text was changed after it was signed");
  if (signers.length === 0) throw unproven("none of the trusted keys has signed it");
  const signedBy = publicKeys.filter((_, index) => signers.includes(known[index] as NoteKey));
  return { text: parsed.text, signedBy };
}

const unproven = (problem: string): HoldfastError => new HoldfastError("HF-3202", { problem });

function readKey(text: string): NoteKey {
  const key = typeof text === "string" ? parsePublicKey(text) : undefined;
  if (key) return key;
  throw new HoldfastError("HF-3200", {
    source: "publicKeys",
    problem: "a public key has the form name+id+base64",
  });
}
