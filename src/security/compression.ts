import { deflateRawSync, inflateRawSync } from "node:zlib";
import { checkKeys, checkNumber, checkWhole } from "../core/check-options.ts";

/** Compression of values before they are stored. */
export interface CompressionOptions {
  /** From 1 (fast) to 9 (small). Default 6. */
  readonly level?: number;
  /** Shorter texts aren't compressed. Default 1,024 bytes. */
  readonly from?: number;
}

/** Text that expands by more than this ratio is refused when unpacked, so tighter output is padded. */
const MOST_RATIO = 100;

/** Compresses bytes; returns `null` when that isn't worth it. */
export type Pack = (bytes: Uint8Array) => Uint8Array | null;

export function packer(options: CompressionOptions | false = {}): Pack {
  if (options === false) return () => null;
  checkKeys(options, ["level", "from"], "compression");
  const { level = 6, from = 1_024 } = options;
  checkWhole("compression.level", level, 1, 9);
  checkNumber("compression.from", from, { least: 0 });
  return (bytes) => {
    if (bytes.length < from) return null;
    const packed = deflateRawSync(bytes, { level });
    if (packed.length >= bytes.length) return null;
    const least = Math.ceil(bytes.length / MOST_RATIO);
    // Bytes after the end of the compressed text are ignored.
    return packed.length >= least ? packed : Buffer.concat([packed, Buffer.alloc(least - packed.length)]);
  };
}

/** The original bytes, or `null` when their size isn't the declared one or they expand too much. */
export function unpack(packed: Uint8Array, size: number): Buffer | null {
  if (size > packed.length * MOST_RATIO) return null;
  try {
    const bytes = inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
    return bytes.length === size ? bytes : null;
  } catch {
    return null;
  }
}
