import { createCipheriv, createDecipheriv, createHmac, randomFillSync, timingSafeEqual } from "node:crypto";
import { keepRecent } from "../core/recent.ts";

/**
 * Authenticated encryption that commits to its key. A key is derived from the secret and 32 random bytes, the salt. The
 * same derivation yields a commitment to that key, which is compared before decryption, so no text opens under two
 * keys. This process encrypts up to {@link MOST_TEXTS} texts with one salt, each with random 12 bytes of its own: that
 * two of them are the same is less likely than one in 2^57. No other process has the same salt.
 */
const SALT_BYTES = 32;
const COMMITMENT_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
export const KEY_BYTES = 32;

/** The size of the parts around the ciphertext. */
export const OVERHEAD_BYTES = SALT_BYTES + COMMITMENT_BYTES + IV_BYTES + TAG_BYTES;

const INFO = "holdfast record key and commitment, 1";

interface Derived {
  readonly key: Uint8Array;
  readonly commitment: Uint8Array;
}

/**
 * HKDF-SHA-512 (RFC 5869) for up to one block: the same result as `hkdfSync` in half the time, which matters because it
 * runs for every value written.
 */
export function hkdf(secret: Uint8Array, salt: Uint8Array, info: string | Uint8Array): Buffer {
  const extracted = createHmac("sha512", salt).update(secret).digest();
  return createHmac("sha512", extracted).update(info).update(FIRST_BLOCK).digest();
}

const FIRST_BLOCK = Buffer.of(1);

/** Uses the whole block: half is the key, half the commitment. */
export function deriveKey(secret: Uint8Array, salt: Uint8Array): Derived {
  const block = hkdf(secret, salt, INFO);
  return { key: block.subarray(0, KEY_BYTES), commitment: block.subarray(KEY_BYTES) };
}

/** The number of texts that are encrypted with one salt. */
const MOST_TEXTS = 2 ** 20;
/** The number of salts of one secret whose keys are remembered for decryption: one for each process that wrote lately. */
const MOST_SALTS = 8;

interface Prepared extends Derived {
  readonly salt: Buffer;
  left: number;
}

/** What was derived from a secret, for as long as somebody holds it. */
interface Known {
  writing?: Prepared;
  readonly reading: Map<string, Derived>;
}

const known = new WeakMap<Uint8Array, Known>();

function knownOf(secret: Uint8Array): Known {
  const found = known.get(secret) ?? { reading: new Map() };
  known.set(secret, found);
  return found;
}

/** The key to encrypt the next text with. Deriving one for each text took most of the time of sealing it. */
function writingKey(secret: Uint8Array): Prepared {
  const of = knownOf(secret);
  if (of.writing === undefined || of.writing.left === 0) {
    const salt = fresh(SALT_BYTES);
    of.writing = { ...deriveKey(secret, salt), salt, left: MOST_TEXTS };
  }
  of.writing.left--;
  return of.writing;
}

function readingKey(secret: Uint8Array, salt: Uint8Array): Derived {
  const { reading } = knownOf(secret);
  const name = Buffer.from(salt).toString("latin1");
  const found = reading.get(name) ?? deriveKey(secret, salt);
  keepRecent(reading, name, found, MOST_SALTS);
  return found;
}

const pool = Buffer.alloc(8_192);
let used = pool.length;

/**
 * Returns random bytes, never the same ones twice. They are drawn in bulk, because drawing them one at a time took a
 * tenth of the sealing time.
 */
function fresh(length: number): Buffer {
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + length));
  pool.fill(0, used, used + length);
  used += length;
  return bytes;
}

/** salt ‖ commitment ‖ iv ‖ ciphertext ‖ tag. `about` is authenticated too, and must be the same for decryption. */
export function encrypt(secret: Uint8Array, about: Uint8Array, plain: Uint8Array): Buffer {
  const sealed = Buffer.allocUnsafe(OVERHEAD_BYTES + plain.length);
  encryptInto(sealed, 0, secret, about, plain);
  return sealed;
}

/** Encrypts into `room`, from `at` on; returns where it ends. */
export function encryptInto(
  room: Buffer,
  at: number,
  secret: Uint8Array,
  about: Uint8Array,
  plain: Uint8Array,
): number {
  const iv = fresh(IV_BYTES);
  const { key, commitment, salt } = writingKey(secret);
  const { body, tag } = gcmEncrypt(key, iv, about, plain);
  let end = at;
  for (const part of [salt, commitment, iv, body, tag]) {
    room.set(part, end);
    end += part.length;
  }
  return end;
}

/** Plain AES-256-GCM. */
export function gcmEncrypt(
  key: Uint8Array,
  iv: Uint8Array,
  about: Uint8Array,
  plain: Uint8Array,
): { readonly body: Buffer; readonly tag: Buffer } {
  const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(about);
  const body = cipher.update(plain);
  cipher.final();
  return { body, tag: cipher.getAuthTag() };
}

/** The plaintext, or `null` when the tag doesn't match. */
export function gcmDecrypt(
  key: Uint8Array,
  iv: Uint8Array,
  about: Uint8Array,
  { body, tag }: { readonly body: Uint8Array; readonly tag: Uint8Array },
): Buffer | null {
  const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(about);
  decipher.setAuthTag(tag);
  const plain = decipher.update(body);
  try {
    decipher.final();
  } catch {
    return null;
  }
  return plain;
}

/** The plaintext, or `null` when it wasn't encrypted with this secret and this `about`. */
export function decrypt(secret: Uint8Array, about: Uint8Array, sealed: Uint8Array): Buffer | null {
  if (sealed.length < OVERHEAD_BYTES) return null;
  const salt = sealed.subarray(0, SALT_BYTES);
  const iv = sealed.subarray(SALT_BYTES + COMMITMENT_BYTES, SALT_BYTES + COMMITMENT_BYTES + IV_BYTES);
  const { key, commitment } = readingKey(secret, salt);
  if (!timingSafeEqual(commitment, sealed.subarray(SALT_BYTES, SALT_BYTES + COMMITMENT_BYTES))) return null;
  const body = sealed.subarray(OVERHEAD_BYTES - TAG_BYTES, sealed.length - TAG_BYTES);
  return gcmDecrypt(key, iv, about, { body, tag: sealed.subarray(sealed.length - TAG_BYTES) });
}

/** Prefixes each text with its length, so that no two lists of texts give the same bytes. */
export function lengthPrefixed(parts: readonly (string | Uint8Array)[]): Buffer {
  let size = 0;
  for (const part of parts) size += 4 + (typeof part === "string" ? Buffer.byteLength(part) : part.length);
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const part of parts) {
    const start = at + 4;
    if (typeof part === "string") at = start + bytes.write(part, start);
    else {
      bytes.set(part, start);
      at = start + part.length;
    }
    bytes.writeUInt32BE(at - start, start - 4);
  }
  return bytes;
}
