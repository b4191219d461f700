import { randomBytes, timingSafeEqual } from "node:crypto";
import { type Pack, unpack } from "./compression.ts";
import { decrypt, encryptInto, lengthPrefixed, OVERHEAD_BYTES } from "./crypto.ts";

/**
 * A value as a sealed store holds it: `hfs1.` and, in base64,
 *
 *   format 1 · suite 1 · flags 1 · size 4 · id of the data key 16 · salt 32 · commitment 32 · iv 12 · ciphertext · tag 16
 *
 * The first five are authenticated, and so is the value's place: the store, the run, its kind, its position or address,
 * and the entry's head, which names the epoch. A record moved anywhere else doesn't open.
 */
const PREFIX = "hfs1.";
const FORMAT = 1;
/**
 * HKDF-SHA-512, AES-256-GCM, key commitment. The only suite: an unknown one is refused, so there is none to downgrade
 * to.
 */
const SUITE = 1;
const PACKED = 1;
const KEY_ID_BYTES = 16;
const HEADER_BYTES = 7 + KEY_ID_BYTES;

/** The key of one run's values. */
export interface DataKey {
  readonly id: Uint8Array;
  readonly secret: Uint8Array;
}

export const newDataKey = (): DataKey => ({ id: randomBytes(KEY_ID_BYTES), secret: randomBytes(32) });

/** The place that a value belongs to. */
export interface RecordPlace {
  readonly store: string;
  /** For a document, its kind. */
  readonly run: string;
  readonly type: "entry" | "blob" | "record" | "document";
  /** Its position, or its address. */
  readonly at: string;
  /** The head of the entry that it belongs to; for a document, its version. */
  readonly head: string;
}

const about = (header: Uint8Array, { store, run, type, at, head }: RecordPlace): Buffer =>
  lengthPrefixed([header, store, run, type, at, head]);

export const isSealed = (text: string): boolean => text.startsWith(PREFIX);

/** Room for what most values become: making it anew for each was a good part of the garbage of a sealed step. */
const ROOM = 16_384;
const textRoom = Buffer.allocUnsafeSlow(ROOM);
const recordRoom = Buffer.allocUnsafeSlow(ROOM);
/** UTF-8 has at most this many bytes for each unit of a text. */
const MOST_BYTES = 3;

export function sealRecord(key: DataKey, place: RecordPlace, text: string, pack: Pack): string {
  const isShort = text.length * MOST_BYTES <= ROOM;
  const bytes = isShort ? textRoom.subarray(0, textRoom.write(text)) : Buffer.from(text);
  const packed = pack(bytes);
  const plain = packed ?? bytes;
  const size = HEADER_BYTES + OVERHEAD_BYTES + plain.length;
  const record = size <= ROOM ? recordRoom : Buffer.allocUnsafe(size);
  record[0] = FORMAT;
  record[1] = SUITE;
  record[2] = packed ? PACKED : 0;
  record.writeUInt32BE(bytes.length, 3);
  record.set(key.id, 7);
  const header = record.subarray(0, HEADER_BYTES);
  const end = encryptInto(record, HEADER_BYTES, key.secret, about(header, place), plain);
  return PREFIX + record.toString("base64", 0, end);
}

/** The value, or `null` when the record wasn't sealed with this key for this place. */
export function openRecord(key: DataKey, place: RecordPlace, record: string): string | null {
  if (!isSealed(record)) return null;
  const bytes = Buffer.from(record.slice(PREFIX.length), "base64");
  if (bytes.length < HEADER_BYTES + OVERHEAD_BYTES) return null;
  const header = bytes.subarray(0, HEADER_BYTES);
  const flags = header.readUInt8(2);
  const isKnown = header.readUInt8(0) === FORMAT && header.readUInt8(1) === SUITE && flags <= PACKED;
  if (!isKnown || !timingSafeEqual(header.subarray(7), key.id)) return null;
  // Several base64 texts decode to the same bytes; only the canonical one is accepted.
  if (bytes.toString("base64") !== record.slice(PREFIX.length)) return null;
  const plain = decrypt(key.secret, about(header, place), bytes.subarray(HEADER_BYTES));
  const size = header.readUInt32BE(3);
  const text = plain && flags === PACKED ? unpack(plain, size) : plain;
  return text?.length === size ? text.toString() : null;
}
