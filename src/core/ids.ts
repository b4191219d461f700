import { HoldfastError } from "./errors.ts";
import { digest } from "./hash.ts";
import { platform } from "./platform.ts";

/** The source of ids and random numbers: the system's randomness, or a seed in tests. */
export interface Ids {
  /** 20 characters, 100 random bits. */
  runId(): string;
  /** 26 characters, 130 random bits: proves ownership of a claim. */
  token(): string;
  /** 20 characters, 100 random bits, for anything else. */
  id(): string;
  /** A number in [0, 1), for jitter. */
  random(): number;
}

const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";
const SHORT = 20;
const LONG = 26;

function base32(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += CROCKFORD.charAt(byte & 31);
  return text;
}

// A double in [0, 1) holds 53 bits.
const fraction = (high32: number, low32: number): number => (high32 * 2 ** 21 + (low32 >>> 11)) / 2 ** 53;

function idsFrom(bytes: (length: number) => Uint8Array): Ids {
  return {
    runId: () => base32(bytes(SHORT)),
    token: () => base32(bytes(LONG)),
    id: () => base32(bytes(SHORT)),
    random: () => {
      const drawn = bytes(8);
      const view = new DataView(drawn.buffer, drawn.byteOffset, 8);
      return fraction(view.getUint32(0), view.getUint32(4));
    },
  };
}

/**
 * Ids from the system's cryptographic randomness.
 */
export const systemIds: Ids = idsFrom((length) => platform().randomBytes(length));

/** The sfc32 generator: small, fast, and with enough state that sequences of two seeds never overlap. */
function sfc32(seed: Uint8Array): () => number {
  const view = new DataView(seed.buffer, seed.byteOffset, 16);
  let [a, b, c, d] = [view.getUint32(0), view.getUint32(4), view.getUint32(8), view.getUint32(12)];
  return () => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
}

/** The same ids in the same order for the same seed. For tests and simulation only. */
export function seededIds(seed: number): Ids {
  const next = sfc32(digestBytes(`seed ${seed}`));
  return idsFrom((length) => {
    const bytes = new Uint8Array(length);
    for (let i = 0; i < length; i++) bytes[i] = next() >>> 24;
    return bytes;
  });
}

const ID = /^[A-Za-z0-9_-]{1,64}$/;

export const isRunId = (value: unknown): value is string => typeof value === "string" && ID.test(value);

/** Refuses a value that isn't an id (HF-1004). */
export function checkId(value: unknown): asserts value is string {
  if (isRunId(value)) return;
  const shown =
    typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : `A value of type ${typeof value}`;
  throw new HoldfastError("HF-1004", { id: shown });
}

function digestBytes(text: string): Uint8Array {
  return platform().fromBase64(digest(text));
}

/** A number in [0, 1) derived from the text, so that it survives replay. */
export function derivedNumber(text: string): number {
  const bytes = digestBytes(text);
  const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
  return fraction(view.getUint32(0), view.getUint32(4));
}

/** A version 4 UUID derived from the text. */
export function derivedUuid(text: string): string {
  const bytes = digestBytes(text);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The id of the child run that a step starts, derived from parent and step. */
export function childId(parentId: string, stepKey: string): string {
  // As JSON, so that no two pairs give the same text and lone surrogates are escaped.
  return base32(digestBytes(JSON.stringify([parentId, stepKey])).subarray(0, LONG));
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** True for a UUID of any version. */
export function isUuid(value: string): boolean;
export function isUuid(value: unknown): value is string;
export function isUuid(value: unknown): boolean {
  return typeof value === "string" && UUID.test(value);
}
