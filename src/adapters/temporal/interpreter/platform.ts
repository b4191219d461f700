import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Platform } from "../../../core/platform.ts";
import { decode, encode } from "../../../core/values/codec.ts";

/**
 * The platform inside Temporal's sandbox, which has neither Node nor WebCrypto: hashes in plain JavaScript, with the
 * results that Node's have. The sandbox's random numbers are the same on every replay, so they name things and keep no
 * secret: keys are drawn outside.
 */
export function sandboxPlatform(storage: Platform["storage"]): Platform {
  return {
    storage,
    digest: (text, encoding) => {
      const sum = sha256(utf8ToBytes(text));
      return encoding === "hex" ? bytesToHex(sum) : toBase64Url(sum);
    },
    digester() {
      const sum = sha256.create();
      return { add: (text) => void sum.update(utf8ToBytes(text)), end: () => toBase64Url(sum.digest()) };
    },
    hmac: (secret, text) => toBase64Url(hmac(sha256, utf8ToBytes(secret), utf8ToBytes(text))),
    toBase64,
    fromBase64,
    clone: <T>(value: T) => decode(encode(value)) as T,
    randomBytes: (length) => Uint8Array.from({ length }, () => Math.floor(Math.random() * 256)),
  };
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map(
  `${LETTERS}-_`.split("").map((letter, index) => [letter, index < 64 ? index : index - 2]),
);

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(at, at + 3);
    const bits = (a << 16) | (b << 8) | c;
    for (const shift of [18, 12, 6, 0]) text += LETTERS.charAt((bits >> shift) & 63);
  }
  const missing = (3 - (bytes.length % 3)) % 3;
  return missing === 0 ? text : text.slice(0, -missing) + "=".repeat(missing);
}

const toBase64Url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

function fromBase64(text: string): Uint8Array {
  const letters = text.replace(/=+$/, "");
  const bytes = new Uint8Array(Math.floor((letters.length * 3) / 4));
  let [bits, held, at] = [0, 0, 0];
  for (const letter of letters) {
    bits = ((bits << 6) | (VALUES.get(letter) ?? 0)) & 0xff_ff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes[at++] = (bits >> held) & 255;
  }
  return bytes;
}
