import { AsyncLocalStorage } from "node:async_hooks";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { platform } from "../../../core/platform.ts";
import { sandboxPlatform } from "./platform.ts";

const node = platform();
const sandbox = sandboxPlatform(<T>() => new AsyncLocalStorage<T>());
const text = fc.string({ unit: "grapheme", maxLength: 300 });

describe("the platform inside Temporal's sandbox", () => {
  it("hashes every text as Node does", () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        expect(sandbox.digest(one, "hex")).toBe(node.digest(one, "hex"));
        expect(sandbox.digest(one, "base64url")).toBe(node.digest(one, "base64url"));
        expect(sandbox.hmac(one, other)).toBe(node.hmac(one, other));
        const [inPieces, atOnce] = [sandbox.digester(), node.digester()];
        for (const sum of [inPieces, atOnce]) for (const part of [one, other]) sum.add(part);
        expect(inPieces.end()).toBe(atOnce.end());
      }),
    );
  });

  it("writes and reads base64 as Node does", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const written = sandbox.toBase64(bytes);
        expect(written).toBe(node.toBase64(bytes));
        expect(sandbox.fromBase64(written)).toEqual(bytes);
        const forUrls = written.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
        expect(sandbox.fromBase64(forUrls)).toEqual(bytes);
      }),
    );
  });

  it("draws as many bytes as are asked for", () => {
    expect(sandbox.randomBytes(8)).toHaveLength(8);
  });
});
