import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { digest, fingerprint, hmac } from "./hash.ts";

describe("digest", () => {
  it("is the SHA-256 of the text in base64url", () => {
    expect(digest("")).toBe("47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
    expect(Buffer.from(digest("abc"), "base64url").toString("hex")).toBe(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  });

  it("hashes the UTF-8 bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(digest(text)).toBe(createHash("sha256").update(text, "utf8").digest("base64url"));
      }),
    );
  });
});

describe("hmac", () => {
  it("matches the published HMAC-SHA-256 vector", () => {
    const tag = Buffer.from(hmac("Jefe", "what do ya want for nothing?"), "base64url").toString("hex");
    expect(tag).toBe("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  });

  it("is what node:crypto makes of any secret and any text, short or long (issue 16)", () => {
    const own = (secret: string, text: string): string =>
      createHmac("sha256", secret).update(text).digest("base64url");
    const secrets = fc.oneof(fc.string({ unit: "binary" }), fc.string({ minLength: 60, maxLength: 140 }));
    const texts = fc.tuple(fc.string({ unit: "binary" }), fc.constantFrom(1, 100, 2_000, 6_000));
    fc.assert(
      fc.property(secrets, texts, (secret, [part, times]) => {
        const text = part.repeat(times).slice(0, 40_000);
        expect(hmac(secret, text)).toBe(own(secret, text));
      }),
    );
    for (const length of [0, 1, 63, 64, 65, 5_461, 5_462, 16_384, 16_385])
      expect(hmac("k".repeat(64), "\u20ac".repeat(length))).toBe(
        own("k".repeat(64), "\u20ac".repeat(length)),
      );
    // One isn't left in what the next is made of.
    for (let n = 0; n < 250; n++) expect(hmac(`secret ${n}`, "text")).toBe(own(`secret ${n}`, "text"));
  });

  it("depends on the secret", () => {
    expect(hmac("one", "text")).not.toBe(hmac("two", "text"));
  });
});

describe("fingerprint", () => {
  it("is ten characters of the digest and shows nothing of the secret", () => {
    const secret = hmac("secret", "run|lineage|step|1");
    expect(fingerprint(secret)).toBe(digest(secret).slice(0, 10));
    expect(secret).not.toContain(fingerprint(secret));
  });
});
