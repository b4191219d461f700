import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ageKey, HIGHEST, LOWEST, sortable, wakeKey, wokenBy } from "./keys.ts";

describe("a number as a text", () => {
  it("has the order of the numbers, whatever they are", () => {
    const number = fc.double({ noNaN: true });
    fc.assert(
      fc.property(number, number, (a, b) => {
        expect(Math.sign(Number(sortable(a) > sortable(b)) - Number(sortable(a) < sortable(b)))).toBe(
          a === b ? 0 : Math.sign(a > b ? 1 : -1),
        );
        expect(sortable(a) >= LOWEST && sortable(a) < HIGHEST).toBe(true);
      }),
    );
  });
});

describe("the order of lists", () => {
  it("is by time, then by id", () => {
    const ids = ["", "-", "A", "_", "a", "a-", "b", "z9"];
    const keys = [1000, 1001].flatMap((createdAt) => ids.map((id) => ageKey({ createdAt, id })));
    expect(keys.toSorted()).toEqual(keys);
  });

  it("has every run that is due before the end of what is due", () => {
    expect(wakeKey(5, "zzz") < wokenBy(5)).toBe(true);
    expect(wakeKey(5.5, "a") > wokenBy(5)).toBe(true);
  });
});
