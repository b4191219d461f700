/** What is needed of Node. */
interface Tools {
  /** Node's own HMAC-SHA-256 of a text of any length, in base64url. */
  readonly slow: (secret: string, text: string) => string;
  /** SHA-256 of bytes. */
  readonly digest: (bytes: Uint8Array, encoding: "base64url" | "binary" | "hex") => string;
  readonly bytes: typeof Buffer;
}

/** The two keys of RFC 2104: the secret, padded and masked, with room for the inner digest behind the outer one. */
interface Pads {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

const [BLOCK, DIGEST] = [64, 32];
/** The room for the text. A longer one takes so long itself that it doesn't matter how. */
const ROOM = 16_384;
/** UTF-8 has at most this many bytes for each unit of a text. */
const MOST_BYTES = 3;
const MOST_SECRETS = 100;

/**
 * HMAC-SHA-256 as two hashes. The object that Node makes for one takes twice as long and is cleaned up outside of the
 * JavaScript heap, and a sealed store needs two for each step.
 */
export function hmacOf({ slow, digest, bytes }: Tools): (secret: string, text: string) => string {
  const known = new Map<string, Pads>();
  const room = bytes.allocUnsafeSlow(BLOCK + ROOM);
  const padsOf = (secret: string): Pads => {
    const found = known.get(secret);
    if (found) return found;
    const raw = bytes.from(secret);
    const key = raw.length > BLOCK ? bytes.from(digest(raw, "hex"), "hex") : raw;
    const inner = bytes.alloc(BLOCK, 0x36);
    const outer = bytes.alloc(BLOCK + DIGEST, 0x5c);
    for (const [index, byte] of key.entries()) {
      inner[index] = byte ^ 0x36;
      outer[index] = byte ^ 0x5c;
    }
    if (known.size >= MOST_SECRETS) known.clear();
    known.set(secret, { inner, outer });
    return { inner, outer };
  };
  return (secret, text) => {
    if (text.length * MOST_BYTES > ROOM) return slow(secret, text);
    const { inner, outer } = padsOf(secret);
    room.set(inner);
    const length = room.write(text, BLOCK);
    outer.write(digest(new Uint8Array(room.buffer, 0, BLOCK + length), "binary"), BLOCK, "binary");
    return digest(outer, "base64url");
  };
}
