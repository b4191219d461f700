import { randomBytes } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { UNREADABLE } from "../core/values/blind.ts";
import { Luck, packer, unpack } from "./compression.ts";
import { packText, unpackText } from "./packed-store.ts";

const text = (length: number): string =>
  "every step is saved once. ".repeat(length / 26 + 1).slice(0, length);

describe("packing", () => {
  it("gives back what was packed, at every level (S1-65)", () => {
    const bytes = Buffer.from(text(2_000));
    for (let level = 1; level <= 9; level++) {
      const packed = packer({ level })(bytes) as Uint8Array;
      expect(packed.length).toBeLessThan(bytes.length / 5);
      expect(unpack(packed, bytes.length)).toEqual(bytes);
    }
  });

  it("leaves short texts, texts that do not get smaller, and everything where it is switched off", () => {
    expect(packer()(Buffer.from(text(1_023)))).toBeNull();
    expect(packer()(randomBytes(5_000))).toBeNull();
    expect(packer(false)(Buffer.from(text(5_000)))).toBeNull();
  });

  it("packs nothing tighter than it would unpack", () => {
    for (const length of [20_000, 1_000_001]) {
      const packed = packer()(Buffer.alloc(length)) as Uint8Array;
      expect(packed).toHaveLength(Math.ceil(length / 100));
      expect(unpack(packed, length)).toEqual(Buffer.alloc(length));
    }
  });

  it("refuses what grows more than a hundredfold, or is not of the size it is said to be", () => {
    const bomb = deflateRawSync(Buffer.alloc(1_000_000));
    expect(unpack(bomb, 1_000_000)).toBeNull();
    const packed = deflateRawSync(Buffer.from(text(2_000)));
    for (const size of [0, 1, 1_999, 2_001, 4_000_000_000]) expect(unpack(packed, size)).toBeNull();
    expect(unpack(Buffer.from("no such thing"), 20)).toBeNull();
  });

  it("leaves the next ones as they are when it gained little, more of them each time", () => {
    const luck = new Luck();
    const tried: number[] = [];
    for (let n = 0; n < 20; n++)
      if (luck.tries()) {
        tried.push(n);
        luck.gained(0.95);
      }
    expect(tried).toEqual([0, 2, 6, 14]);
    for (let left = 15; left > 0; left--) luck.tries();
    luck.gained(0.5);
    expect([luck.tries(), luck.tries()]).toEqual([true, true]);
  });

  it("refuses settings that mean nothing", () => {
    for (const options of [{ level: 0 }, { level: 10 }, { level: 1.5 }, { from: -1 }])
      expect(() => packer(options)).toThrow(expect.objectContaining({ code: "HF-1003" }));
  });
});

describe("a packed text", () => {
  const pack = packer();

  it("comes back, however it looks", () => {
    for (const one of ["", "1", text(5_000), "hfp1.", "hfp1.0.", `hfp1.7.${text(3_000)}`, "é𝄞".repeat(900)])
      expect(unpackText(packText(pack, one))).toBe(one);
  });

  it("is met as damage when it cannot be unpacked", () => {
    const packed = packText(pack, text(5_000));
    const size = packed.replace(/^hfp1\.\d+/, "hfp1.4999");
    for (const one of ["hfp1.", "hfp1.x.AAAA", size, `${packed}!`]) expect(unpackText(one)).toBe(UNREADABLE);
  });
});
