import { createHash } from "node:crypto";
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
