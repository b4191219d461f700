import { hash } from "node:crypto";

/** The version of the format of every file the store writes. */
export const FORMAT = "1.0";

/** The version of the store as a whole, which `store.json` names: raised with the journal's format. */
export const STORE_FORMAT = "2.0";

const OPENING = ',\n  "checksum": "sha256:';
const CLOSING = '"\n}\n';
const SEAL_BYTES = OPENING.length + 64 + CLOSING.length;

/**
 * An object as indented JSON whose last field is the SHA-256 of every byte before that field. So no byte of the
 * file can change, and none can be missing, without being noticed.
 */
export function seal(body: object): string {
  const text = JSON.stringify(body, null, 2).slice(0, -2);
  return `${text}${OPENING}${hash("sha256", text)}${CLOSING}`;
}

export type Unsealed = { readonly body: Readonly<Record<string, unknown>> } | { readonly problem: string };

/** What was sealed, or why the file cannot be trusted. */
export function unseal(bytes: Buffer): Unsealed {
  const end = bytes.length - SEAL_BYTES;
  if (end < 0) return { problem: "it is cut short" };
  const text = bytes.subarray(0, end);
  const expected = `${OPENING}${hash("sha256", text)}${CLOSING}`;
  if (!bytes.subarray(end).equals(Buffer.from(expected))) {
    const isWhole = bytes.subarray(-CLOSING.length).equals(Buffer.from(CLOSING));
    return { problem: isWhole ? "its checksum does not match" : "it is cut short or was changed" };
  }
  return { body: JSON.parse(bytes.toString("utf8")) as Readonly<Record<string, unknown>> };
}

/** Stores of this version and of every one before can be opened. */
export const isKnownStore = (version: unknown): boolean =>
  typeof version === "string" && /^\d+\./.test(version) && major(version) <= major(STORE_FORMAT);

const major = (version: string): number => Number(version.split(".")[0]);

/** Files of this version and of every later one of the same first number can be read. */
export const isKnownVersion = (version: unknown): boolean =>
  typeof version === "string" && version.split(".")[0] === FORMAT.split(".")[0];
