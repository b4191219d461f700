import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packer } from "./compression.ts";
import { type DataKey, newDataKey, openRecord, type RecordPlace, sealRecord } from "./record.ts";

const pack = packer();
const key = newDataKey();
const place: RecordPlace = { store: "s", run: "run-1", type: "entry", at: "7", head: '{"p":"","e":3}' };
const bytesOf = (record: string): Buffer => Buffer.from(record.slice(5), "base64");
const recordOf = (bytes: Uint8Array): string => `hfs1.${Buffer.from(bytes).toString("base64")}`;

describe("a sealed record", () => {
  it("gives back any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(openRecord(key, place, sealRecord(key, place, text, pack))).toBe(text);
      }),
      { numRuns: 60 },
    );
    const long = "é and much more of it. ".repeat(5_000);
    expect(sealRecord(key, place, long, pack).length).toBeLessThan(long.length / 10);
    expect(openRecord(key, place, sealRecord(key, place, long, pack))).toBe(long);
  });

  it("gives back texts of every length, whatever was sealed before (issue 16)", () => {
    const never = packer(false);
    const lengths = [16_384, 5_461, 5_462, 3, 16_300, 16_301, 40_000, 0, 5_400, 1];
    for (const letter of ["x", "\u20ac", "\ud83e\udd8a"])
      for (const length of lengths) {
        const text = letter.repeat(length / letter.length);
        for (const packs of [pack, never])
          expect(openRecord(key, place, sealRecord(key, place, text, packs)) === text).toBe(true);
      }
  });

  it("opens only where it was sealed for: each of 120 records only in its own place", () => {
    const places: RecordPlace[] = [];
    for (const store of ["s", "t"])
      for (const run of ["run-1", "run-11"])
        for (const type of ["entry", "blob"] as const)
          for (const at of ["1", "11", "12", "2", "3"])
            for (const epoch of [1, 2, 3])
              places.push({ store, run, type, at, head: `{"p":"x","e":${epoch}}` });
    const records = places.map((one) => sealRecord(key, one, JSON.stringify(one), pack));
    const opened = places.flatMap((one, at) =>
      records.flatMap((record, of) => (openRecord(key, one, record) === null ? [] : [[at, of]])),
    );
    expect(places).toHaveLength(120);
    expect(opened).toEqual(places.map((_, index) => [index, index]));
  });

  it("opens with no other key, not even one of the same name", () => {
    const record = sealRecord(key, place, "a value", pack);
    const others: DataKey[] = [newDataKey(), { id: key.id, secret: randomBytes(32) }];
    for (const other of others) expect(openRecord(other, place, record)).toBeNull();
  });

  it.each([
    ["short", "a"],
    ["packed", "long and packed. ".repeat(200)],
  ])("is refused with any character changed (%s)", (_, text) => {
    const record = sealRecord(key, place, text, pack);
    const opened = Array.from(record).flatMap((letter, at) => {
      const other = String.fromCharCode(letter.charCodeAt(0) ^ (1 << (at % 5)));
      const changed = record.slice(0, at) + other + record.slice(at + 1);
      return openRecord(key, place, changed) === null ? [] : [at];
    });
    expect(opened).toEqual([]);
    for (const more of ["A", "=", "\n"]) expect(openRecord(key, place, record + more)).toBeNull();
  });

  it("is refused with any byte of its header changed: format, suite, flags, size, key", () => {
    const bytes = bytesOf(sealRecord(key, place, "long and packed. ".repeat(200), pack));
    const opened = Array.from({ length: 23 }).flatMap((_, at) =>
      [0, 1, 2, 3, 7, 64, 128, 255].filter((value) => {
        const changed = Buffer.from(bytes);
        changed[at] = value;
        return value !== bytes[at] && openRecord(key, place, recordOf(changed)) !== null;
      }),
    );
    expect(opened).toEqual([]);
  });

  it("is refused when it is anything else", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.uint8Array({ maxLength: 400 }).map(recordOf)), (text) => {
        expect(openRecord(key, place, text)).toBeNull();
      }),
      { numRuns: 300 },
    );
    for (const text of ["", "hfs1.", '{"a":1}', "hfp1.3.AAAA", "hfs2.AAAA"])
      expect(openRecord(key, place, text)).toBeNull();
  });
});
