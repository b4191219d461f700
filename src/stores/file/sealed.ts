import { hash } from "node:crypto";

/** The format version of every file that the store writes. */
export const FORMAT = "1.0";

/**
 * The version of the store as a whole, written to `store.json` and raised with the journal's format, and when runs got
 * tags that older versions would lose.
 */
export const STORE_FORMAT = "3.0";

const OPENING = ',\n  "checksum": "sha256:';
const CLOSING = '"\n}\n';
const SEAL_BYTES = OPENING.length + 64 + CLOSING.length;

/**
 * Formats an object as indented JSON whose last field is the SHA-256 of every byte before it. So no byte can change or
 * go missing unnoticed.
 */
export function seal(body: object): string {
  const text = JSON.stringify(body, null, 2).slice(0, -2);
  return `${text}${OPENING}${hash("sha256", text)}${CLOSING}`;
}

export type Unsealed = { readonly body: Readonly<Record<string, unknown>> } | { readonly problem: string };

/** The sealed object, or the reason why the file can't be trusted. */
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

/** True for stores of this version and every earlier one. */
export const isKnownStore = (version: unknown): boolean =>
  typeof version === "string" && /^\d+\./.test(version) && major(version) <= major(STORE_FORMAT);

const major = (version: string): number => Number(version.split(".")[0]);

/** True for files of the same major version, this one or later. */
export const isKnownVersion = (version: unknown): boolean =>
  typeof version === "string" && version.split(".")[0] === FORMAT.split(".")[0];
