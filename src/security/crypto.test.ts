import { createCipheriv, hkdfSync, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { decrypt, deriveKey, encrypt, gcmDecrypt, gcmEncrypt, hkdf, lengthPrefixed } from "./crypto.ts";

const hex = (text: string): Buffer => Buffer.from(text, "hex");

/** From "The Galois/Counter Mode of Operation", McGrew and Viega, appendix B: test cases 13, 14 and 16. */
const GCM_VECTORS = [
  {
    key: "00".repeat(32),
    iv: "00".repeat(12),
    plain: "",
    about: "",
    body: "",
    tag: "530f8afbc74536b9a963b4f1c4cb738b",
  },
  {
    key: "00".repeat(32),
    iv: "00".repeat(12),
    plain: "00".repeat(16),
    about: "",
    body: "cea7403d4d606b6e074ec5d3baf39d18",
    tag: "d0d1c8a799996bf0265b98b5d48ab919",
  },
  {
    key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
    iv: "cafebabefacedbaddecaf888",
    plain:
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
    about: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
    body: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
    tag: "76fc6ece0f4e1768cddf8853bb2d551b",
  },
];

describe("the primitives", () => {
  it.each(GCM_VECTORS)("encrypt as published: tag $tag", ({ key, iv, plain, about, body, tag }) => {
    const made = gcmEncrypt(hex(key), hex(iv), hex(about), hex(plain));
    expect([made.body.toString("hex"), made.tag.toString("hex")]).toEqual([body, tag]);
    expect(gcmDecrypt(hex(key), hex(iv), hex(about), made)).toEqual(hex(plain));
  });

  it("derive what the platform's own HKDF derives", () => {
    for (let n = 0; n < 50; n++) {
      const [secret, salt, info] = [randomBytes(32), randomBytes(n), randomBytes(n * 3)];
      expect(hkdf(secret, salt, info)).toEqual(Buffer.from(hkdfSync("sha512", secret, salt, info, 64)));
    }
  });

  it("never give the same bytes for two lists of texts", () => {
    expect(lengthPrefixed(["ab", "c"])).not.toEqual(lengthPrefixed(["a", "bc"]));
    expect(lengthPrefixed(["a", ""])).not.toEqual(lengthPrefixed(["a"]));
  });
});

describe("what is encrypted", () => {
  const [secret, about, plain] = [randomBytes(32), Buffer.from("where it stands"), Buffer.from("a value")];

  it("opens with the same secret for the same place, and is another text each time", () => {
    const [one, two] = [encrypt(secret, about, plain), encrypt(secret, about, plain)];
    expect(decrypt(secret, about, one)).toEqual(plain);
    expect(one.equals(two)).toBe(false);
  });

  it("has one salt for the texts of a secret, so that one key is derived, and never the same vector twice", () => {
    const texts = Array.from({ length: 1_000 }, () => encrypt(secret, about, plain));
    expect(new Set(texts.map((one) => one.toString("hex", 0, 32))).size).toBe(1);
    const others = Array.from({ length: 20 }, () => encrypt(randomBytes(32), about, plain));
    expect(new Set(others.map((one) => one.toString("hex", 0, 32))).size).toBe(20);
    expect(new Set(texts.map((one) => one.toString("hex", 64, 76))).size).toBe(1_000);
  });

  it("does not open with another secret, for another place, changed or cut anywhere", () => {
    const sealed = encrypt(secret, about, plain);
    expect(decrypt(randomBytes(32), about, sealed)).toBeNull();
    expect(decrypt(secret, Buffer.from("elsewhere"), sealed)).toBeNull();
    const opened = Array.from(sealed.keys()).filter((at) => {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      const answers = [changed, sealed.subarray(0, at)].map((one) => decrypt(secret, about, one));
      return answers.some((answer) => answer !== null);
    });
    expect(opened).toEqual([]);
  });

  it("opens under no second key, not even where AES-GCM by itself accepts two", () => {
    const [first, second] = [randomBytes(32), randomBytes(32)];
    const [salt, iv] = [randomBytes(32), randomBytes(12)];
    const keys = [deriveKey(first, salt), deriveKey(second, salt)] as const;
    const forged = openToBoth(keys[0].key, keys[1].key, iv, about);
    for (const { key } of keys) expect(gcmDecrypt(key, iv, about, forged)).not.toBeNull();
    const sealed = Buffer.concat([salt, keys[0].commitment, iv, forged.body, forged.tag]);
    expect(decrypt(first, about, sealed)).toHaveLength(16);
    expect(decrypt(second, about, sealed)).toBeNull();
  });
});

/**
 * One block that AES-GCM accepts under both keys: given the ciphertext and the tag, both keys leave one block free to
 * choose.
 */
function openToBoth(one: Uint8Array, two: Uint8Array, iv: Buffer, about: Buffer) {
  const lengths = Buffer.alloc(16);
  lengths.writeUInt32BE(about.length * 8, 4);
  lengths.writeUInt32BE(128, 12);
  const padded = Buffer.concat([about, Buffer.alloc((16 - (about.length % 16)) % 16)]);
  const sides = [one, two].map((key) => {
    const block = (text: Buffer): bigint => {
      const cipher = createCipheriv("aes-256-ecb", key, null).setAutoPadding(false);
      return toNumber(cipher.update(text));
    };
    const h = block(Buffer.alloc(16));
    const mask = block(Buffer.concat([iv, Buffer.of(0, 0, 0, 1)]));
    return { h, mask, rest: hashed(h, [...blocksOf(padded), 0n, toNumber(lengths)]) ^ mask };
  });
  const [a, b] = sides as [(typeof sides)[0], (typeof sides)[0]];
  const body = times(a.rest ^ b.rest, inverse(times(a.h, a.h) ^ times(b.h, b.h)));
  const tag = a.rest ^ times(body, times(a.h, a.h));
  return { body: toBytes(body), tag: toBytes(tag) };
}

const toNumber = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
const toBytes = (value: bigint): Buffer => hex(value.toString(16).padStart(32, "0"));
const blocksOf = (bytes: Buffer): bigint[] =>
  Array.from({ length: bytes.length / 16 }, (_, n) => toNumber(bytes.subarray(n * 16, n * 16 + 16)));
const hashed = (h: bigint, blocks: readonly bigint[]): bigint =>
  blocks.reduce((sum, block) => times(sum ^ block, h), 0n);

/** Multiplication in the field of AES-GCM, whose bits are in reverse order. */
function times(x: bigint, y: bigint): bigint {
  let [product, shifted] = [0n, y];
  for (let bit = 127n; bit >= 0n; bit--) {
    if ((x >> bit) & 1n) product ^= shifted;
    shifted = shifted & 1n ? (shifted >> 1n) ^ (0xe1n << 120n) : shifted >> 1n;
  }
  return product;
}

/** The multiplicative group has 2^128 - 1 members. */
function inverse(x: bigint): bigint {
  let [result, square] = [1n << 127n, x];
  for (let bit = 1; bit < 128; bit++) {
    square = times(square, square);
    result = times(result, square);
  }
  return result;
}
