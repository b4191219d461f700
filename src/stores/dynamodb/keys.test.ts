import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ageKey, HIGHEST, LOWEST, levelOf, levelsBelow, sortable, wakeKey, wokenBy } from "./keys.ts";

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
    for (const priority of [0, 7, -7]) {
      const [first, last] = wokenBy(5, priority);
      expect(wakeKey(-5, "a", priority) > first).toBe(true);
      expect(wakeKey(5, "zzz", priority) < last).toBe(true);
      expect(wakeKey(5.5, "a", priority) > last).toBe(true);
      expect(wakeKey(5, "a", priority + 1) > last || wakeKey(5, "a", priority + 1) < first).toBe(true);
    }
  });

  it("names the priority of each due run, and finds the next lower one", () => {
    const levels = [-100, -7, -1, 1, 2, 100];
    const keys = levels.map((priority) => wakeKey(5, "a", priority));
    expect(keys.map(levelOf)).toEqual(levels);
    expect(keys.toSorted()).toEqual(keys);
    for (const [index, level] of levels.entries()) {
      const [first, last] = levelsBelow(level);
      expect(keys.filter((key) => key >= first && key <= last)).toEqual(keys.slice(0, index));
    }
  });
});
