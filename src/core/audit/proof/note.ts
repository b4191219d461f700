import { ed25519Signer, isSignedBy, publicKeyOf, sha256 } from "./crypto.ts";

/**
 * Signed notes as C2SP defines them (c2sp.org/signed-note): a text that ends with a line feed, an empty line, and one
 * line for each signature: an em dash, the key's name, and base64 of the key's id and the signature.
 *
 * A key is written as the Go tools write it: `name+id+base64(0x01 ‖ public key)`, and a private one
 * `PRIVATE+KEY+name+id+base64(0x01 ‖ seed)`. Its id is the beginning of SHA-256(name ‖ 0x0A ‖ 0x01 ‖ public key).
 */

/** Who can sign: a key at hand, or a service that keeps it. */
export interface NoteSigner {
  /** The public key: `name+id+base64`. */
  readonly publicKey: string;
  /** The Ed25519 signature of these bytes (64 bytes). */
  sign(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

export interface NoteKey {
  readonly name: string;
  /** Eight hexadecimal digits. */
  readonly id: string;
  readonly bytes: Buffer;
}

const ED25519 = 1;
const NAME = /^[^\s+]{1,200}$/u;
const DASH = "\u2014";
const MOST_SIGNATURES = 100;

export const isKeyName = (name: string): boolean => NAME.test(name);

const idOf = (name: string, key: Uint8Array): string =>
  sha256(Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ED25519), key]))
    .subarray(0, 4)
    .toString("hex");

const base64Bytes = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
};

const keyText = (name: string, id: string, bytes: Uint8Array): string =>
  `${name}+${id}+${Buffer.concat([Buffer.of(ED25519), bytes]).toString("base64")}`;

/** Reads a public key; `undefined` when it isn't one, or its id isn't its own. */
export function parsePublicKey(text: string): NoteKey | undefined {
  const [, name = "", id = "", coded = ""] = /^([^\s+]{1,200})\+([0-9a-f]{8})\+(\S+)$/u.exec(text) ?? [];
  const bytes = base64Bytes(coded);
  if (bytes?.length !== 33 || bytes[0] !== ED25519) return undefined;
  const key = bytes.subarray(1);
  return idOf(name, key) === id ? { name, id, bytes: key } : undefined;
}

const PRIVATE = "PRIVATE+KEY+";

/** Writes a private key from its 32-byte seed. */
export const formatPrivateKey = (name: string, seed: Uint8Array): string =>
  `${PRIVATE}${keyText(name, idOf(name, publicKeyOf(seed)), seed)}`;

/** Reads a private key; `undefined` when it isn't one, or its id isn't its own. */
export function parsePrivateKey(text: string): NoteSigner | undefined {
  const [, name = "", id = "", coded = ""] =
    /^PRIVATE\+KEY\+([^\s+]{1,200})\+([0-9a-f]{8})\+(\S+)$/u.exec(text.trim()) ?? [];
  const bytes = base64Bytes(coded);
  if (bytes?.length !== 33 || bytes[0] !== ED25519) return undefined;
  const seed = bytes.subarray(1);
  const key = publicKeyOf(seed);
  if (idOf(name, key) !== id) return undefined;
  return { publicKey: keyText(name, id, key), sign: ed25519Signer(seed) };
}

/** A text that can be signed: it ends with a line feed and has no other control characters. */
export const isNoteText = (text: string): boolean =>
  text.endsWith("\n") && !/[^\P{Cc}\n\u007f-\u009f]|\p{Cs}/u.test(text);

/** One line of a note, with the signature of a key. */
export async function signatureLine(text: string, signer: NoteSigner): Promise<string | undefined> {
  const key = parsePublicKey(signer.publicKey);
  if (!key) return undefined;
  const signature = await signer.sign(Buffer.from(text));
  if (!isSignedBy(key.bytes, Buffer.from(text), signature)) return undefined;
  const coded = Buffer.concat([Buffer.from(key.id, "hex"), signature]).toString("base64");
  return `${DASH} ${key.name} ${coded}\n`;
}

export interface ParsedNote {
  readonly text: string;
  readonly signatures: readonly { readonly name: string; readonly id: string; readonly bytes: Buffer }[];
}

/** Takes a note apart without judging its signatures; `undefined` when it isn't one. */
export function parseNote(note: string): ParsedNote | undefined {
  const gap = note.lastIndexOf("\n\n");
  const text = note.slice(0, gap + 1);
  const lines = note.slice(gap + 2).split("\n");
  if (gap < 0 || !isNoteText(text) || lines.pop() !== "" || lines.length === 0) return undefined;
  if (lines.length > MOST_SIGNATURES) return undefined;
  const signatures = lines.map((line) => {
    const [dash, name = "", coded = "", ...rest] = line.split(" ");
    const bytes = base64Bytes(coded);
    if (dash !== DASH || rest.length > 0 || !isKeyName(name) || !bytes || bytes.length < 5) return undefined;
    return { name, id: bytes.subarray(0, 4).toString("hex"), bytes: bytes.subarray(4) };
  });
  const whole = signatures.filter((one) => one !== undefined);
  return whole.length === signatures.length ? { text, signatures: whole } : undefined;
}

/**
 * The keys among `known` that have signed the note. `undefined` when the note says that one of them has, and it hasn't:
 * then nothing in it counts.
 */
export function signersOf(
  { text, signatures }: ParsedNote,
  known: readonly NoteKey[],
): readonly NoteKey[] | undefined {
  const bytes = Buffer.from(text);
  const signed: NoteKey[] = [];
  for (const { name, id, bytes: signature } of signatures) {
    const key = known.find((one) => one.name === name && one.id === id);
    if (!key) continue;
    if (!isSignedBy(key.bytes, bytes, signature)) return undefined;
    signed.push(key);
  }
  return signed;
}
