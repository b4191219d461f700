import { deflateRawSync, inflateRawSync } from "node:zlib";
import { HoldfastError } from "../core/errors.ts";

/** How values are made smaller before they are stored. */
export interface CompressionOptions {
  /** From 1 (quick) to 9 (small). Default 6. */
  readonly level?: number;
  /** Shorter texts are left as they are. Default 1,024 bytes. */
  readonly from?: number;
}

/** What grows more than this when it is unpacked is refused, so what is packed tighter is filled up. */
const MOST_RATIO = 100;

/** Packs bytes; `null` where that is not worth it. */
export type Pack = (bytes: Uint8Array) => Uint8Array | null;

export function packer(options: CompressionOptions | false = {}): Pack {
  if (options === false) return () => null;
  const { level = 6, from = 1_024 } = options;
  if (!Number.isInteger(level) || level < 1 || level > 9)
    throw refused("compression.level", "it must be a whole number from 1 to 9");
  if (!Number.isFinite(from) || from < 0)
    throw refused("compression.from", "it must be a number of 0 or more");
  return (bytes) => {
    if (bytes.length < from) return null;
    const packed = deflateRawSync(bytes, { level });
    if (packed.length >= bytes.length) return null;
    const least = Math.ceil(bytes.length / MOST_RATIO);
    // What comes behind the end of a packed text is not read.
    return packed.length >= least ? packed : Buffer.concat([packed, Buffer.alloc(least - packed.length)]);
  };
}

const refused = (option: string, problem: string): HoldfastError =>
  new HoldfastError("HF-1003", { option, problem });

/** What was packed, or `null` when it is not of the size it is said to be, or grows too much. */
export function unpack(packed: Uint8Array, size: number): Buffer | null {
  if (size > packed.length * MOST_RATIO) return null;
  try {
    const bytes = inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
    return bytes.length === size ? bytes : null;
  } catch {
    return null;
  }
}
