import { describe, expect, it } from "vitest";
import { extend, isNothing, isSelected, NOTHING, toggle } from "./selection.ts";

const rows = ["a", "b", "c", "d"];

describe("a selection of runs", () => {
  it("takes runs in and out", () => {
    const one = toggle(NOTHING, "b", rows);
    expect([...one.ids]).toEqual(["b"]);
    expect(isNothing(toggle(one, "b", rows))).toBe(true);
  });

  it("extends from the last one in both directions", () => {
    const from = toggle(NOTHING, "c", rows);
    expect([...extend(from, "a", rows).ids].sort()).toEqual(["a", "b", "c"]);
    expect([...extend(from, "d", rows).ids]).toEqual(["c", "d"]);
    expect([...extend(NOTHING, "d", rows).ids]).toEqual(["d"]);
  });

  it("keeps runs that the list no longer shows", () => {
    const two = extend(toggle(NOTHING, "a", rows), "b", rows);
    expect(isSelected(toggle(two, "d", ["c", "d"]), "a")).toBe(true);
  });

  it("falls back to what is loaded when one is taken out of all", () => {
    const all = { ...NOTHING, isAll: true };
    expect(isSelected(all, "z")).toBe(true);
    expect([...toggle(all, "b", rows).ids]).toEqual(["a", "c", "d"]);
  });
});
