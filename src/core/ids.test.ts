import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "./errors.ts";
import { checkId, childId, derivedNumber, derivedUuid, type Ids, seededIds, systemIds } from "./ids.ts";

const ID = /^[A-Za-z0-9_-]{1,64}$/;
const draw = (ids: Ids): unknown[] => [ids.runId(), ids.token(), ids.id(), ids.random(), ids.runId()];
const anyText = fc.string({ unit: "binary", maxLength: 200 });

describe.each([
  ["systemIds", systemIds],
  ["seededIds", seededIds(1)],
])("%s", (_name, ids) => {
  it("gives run ids of 20 lower-case Crockford characters", () => {
    for (let i = 0; i < 200; i++) expect(ids.runId()).toMatch(/^[0-9a-hjkmnp-tv-z]{20}$/);
  });

  it("gives tokens and ids of the id form, tokens of at least 128 bits", () => {
    for (let i = 0; i < 200; i++) {
      expect(ids.id()).toMatch(ID);
      expect(ids.token()).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/);
    }
  });

  it("never repeats an id", () => {
    const seen = new Set<string>();
    for (let i = 0; i < 3000; i++) seen.add(ids.runId()).add(ids.token()).add(ids.id());
    expect(seen.size).toBe(9000);
  });

  it("gives random numbers spread over [0, 1)", () => {
    const buckets = new Set<number>();
    for (let i = 0; i < 2000; i++) {
      const value = ids.random();
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThan(1);
      buckets.add(Math.floor(value * 16));
    }
    expect(buckets.size).toBe(16);
  });
});

describe("seededIds", () => {
  it("repeats itself for the same seed and differs for another", () => {
    fc.assert(
      fc.property(fc.double(), fc.double(), (one, two) => {
        expect(draw(seededIds(one))).toEqual(draw(seededIds(one)));
        if (String(one) !== String(two)) expect(draw(seededIds(one))).not.toEqual(draw(seededIds(two)));
      }),
    );
  });
});

describe("checkId", () => {
  it("takes every id it is meant to take", () => {
    for (const id of ["a", "A-b_9", "x".repeat(64), systemIds.runId()])
      expect(() => checkId(id)).not.toThrow();
  });

  it("refuses everything else with HF-1004", () => {
    const refused = [
      "",
      "x".repeat(65),
      "a b",
      "a/b",
      "../x",
      "ä",
      "a\n",
      "\0",
      7,
      null,
      undefined,
      {},
      Symbol("s"),
    ];
    for (const value of refused) {
      let caught: unknown;
      try {
        checkId(value);
      } catch (error) {
        caught = error;
      }
      expect(HoldfastError.is(caught, "HF-1004")).toBe(true);
    }
  });
});

describe("derivedNumber", () => {
  it("is in [0, 1) and the same for the same text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const value = derivedNumber(text);
        expect(value >= 0 && value < 1).toBe(true);
        expect(derivedNumber(text)).toBe(value);
      }),
    );
  });

  it("keeps its values from version to version, because replay depends on them", () => {
    expect(derivedNumber("run|random|1")).toBe(0.04467950569910484);
  });
});

describe("derivedUuid", () => {
  it("has the form of a version 4 UUID and is the same for the same text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(derivedUuid(text)).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
        expect(derivedUuid(text)).toBe(derivedUuid(text));
      }),
    );
  });

  it("keeps its values from version to version, because replay depends on them", () => {
    expect(derivedUuid("run|uuid|1")).toBe("b10ac12c-145f-42b1-aeb8-907a2403a451");
  });
});

describe("childId", () => {
  it("is a valid id for any input, and the same for the same input", () => {
    fc.assert(
      fc.property(anyText, anyText, (parent, step) => {
        expect(childId(parent, step)).toMatch(ID);
        expect(childId(parent, step)).toBe(childId(parent, step));
      }),
    );
  });

  it("tells apart pairs that only differ in where the parent ends", () => {
    expect(childId("a", "bc")).not.toBe(childId("ab", "c"));
    expect(childId("a", "\ud800")).not.toBe(childId("a", "\ud801"));
    expect(childId("a", '","')).not.toBe(childId('a","', ""));
  });

  it("keeps its values from version to version, because a restarted parent must find its child", () => {
    expect(childId("parent", "review[3]")).toBe("p1cj55fy3zr78bfavs417kwx8k");
  });
});
