import { describe, expect, it } from "vitest";
import { folded, jsonLines, NO_FOLDS, withMore } from "./json-tree.ts";

const told = (lines: ReturnType<typeof jsonLines>): readonly string[] =>
  lines.map(({ level, name, kind, text }) => `${" ".repeat(level)}${name ?? "·"} ${kind} ${text}`);

describe("the lines of a value", () => {
  it("show small levels open and texts as they are", () => {
    expect(told(jsonLines({ a: [1, null], b: "<b>x</b>" }))).toEqual([
      "· object 2",
      " a array 2",
      "  0 number 1",
      "  1 word null",
      " b string <b>x</b>",
    ]);
  });

  it("show only the beginning of a large level, and more of it when asked", () => {
    const value = { rows: Array.from({ length: 1_000_000 }, (_, index) => index) };
    const closed = jsonLines(value);
    expect(told(closed)).toEqual(["· object 1", " rows array 1000000"]);
    const open = folded(NO_FOLDS, closed[1] as (typeof closed)[number]);
    const lines = jsonLines(value, open);
    expect(lines).toHaveLength(103);
    const more = lines.at(-1) as (typeof lines)[number];
    expect(more).toMatchObject({ kind: "more", text: "999900" });
    expect(jsonLines(value, withMore(open, more))).toHaveLength(503);
  });

  it("cut long texts and keep names with slashes apart", () => {
    const lines = jsonLines({ "a/b": "x".repeat(100_000), a: { b: 1 } });
    expect(lines[1]?.text.length).toBeLessThan(450);
    expect(new Set(lines.map(({ path }) => path)).size).toBe(lines.length);
  });
});
