import { deflateRawSync, inflateRawSync } from "node:zlib";
import { checkKeys, checkNumber, checkWhole } from "../core/check-options.ts";

/** Compression of values before they are stored. */
export interface CompressionOptions {
  /** From 1 (fast) to 9 (small). Default 4, and 6 from 16 KiB on. */
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
  const { level, from = 1_024 } = options;
  if (level !== undefined) checkWhole("compression.level", level, 1, 9);
  checkNumber("compression.from", from, { least: 0 });
  const luck = new Luck();
  return (bytes) => {
    if (bytes.length < from || !luck.tries()) return null;
    const packed = deflateRawSync(bytes, {
      ...sized(bytes.length),
      ...(level === undefined ? {} : { level }),
    });
    luck.gained(packed.length / bytes.length);
    if (packed.length >= bytes.length) return null;
    const least = Math.ceil(bytes.length / MOST_RATIO);
    // Bytes after the end of the compressed text are ignored.
    return packed.length >= least ? packed : Buffer.concat([packed, Buffer.alloc(least - packed.length)]);
  };
}

/** A short text is packed as tightly with little memory and less effort, in a fifth of the time. */
function sized(length: number): {
  readonly level: number;
  readonly windowBits?: number;
  readonly memLevel?: number;
} {
  if (length <= 4_096) return { level: 4, windowBits: 12, memLevel: 5 };
  return { level: length <= 16_384 ? 4 : 6 };
}

/** Values that follow each other are alike: when packing gained little, the next ones are left as they are. */
export class Luck {
  #skips = 0;
  #left = 0;

  tries(): boolean {
    if (this.#left === 0) return true;
    this.#left--;
    return false;
  }

  /** `ratio`: of the packed size to the whole. Each failure in a row doubles how many are left as they are. */
  gained(ratio: number): void {
    this.#skips = ratio < LITTLE ? 0 : Math.min(MOST_SKIPS, 2 * this.#skips + 1);
    this.#left = this.#skips;
  }
}

const LITTLE = 0.9;
const MOST_SKIPS = 31;

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
