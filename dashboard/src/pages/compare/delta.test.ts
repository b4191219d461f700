import { describe, expect, it } from "vitest";
import { byPart, differencesOf, isNoise, partsOf } from "./delta.ts";

describe("the differences of two states", () => {
  it("are read from the delta, with the place of each", () => {
    const delta = {
      memory: { model: ["small", "large"], note: ["x", 0, 0] },
      steps: { pay: [{ paid: true }], rows: { _t: "a", 1: [{ id: 4 }], _0: [{ id: 1 }, 0, 0] } },
    };
    expect(differencesOf(delta)).toEqual([
      { path: ["memory", "model"], kind: "changed", from: "small", to: "large" },
      { path: ["memory", "note"], kind: "removed", from: "x" },
      { path: ["steps", "pay"], kind: "added", to: { paid: true } },
      { path: ["steps", "rows", "1"], kind: "added", to: { id: 4 } },
      { path: ["steps", "rows", "0"], kind: "removed", from: { id: 1 } },
    ]);
    expect(differencesOf(null)).toEqual([]);
  });

  it("are grouped by part, and times count as noise", () => {
    expect(byPart([{ path: ["steps", "a"] }, { path: ["memory", "b"] }, { path: ["steps", "c"] }])).toEqual([
      ["steps", [{ path: ["steps", "a"] }, { path: ["steps", "c"] }]],
      ["memory", [{ path: ["memory", "b"] }]],
    ]);
    expect(
      [
        ["steps", "load", "createdAt"],
        ["memory", "elapsed"],
        ["memory", "took_ms"],
      ].every(isNoise),
    ).toBe(true);
    expect(
      [
        ["steps", "format"],
        ["memory", "model"],
        ["memory", "rate"],
      ].some(isNoise),
    ).toBe(false);
  });

  it("have paths that a JSON Patch writes with escapes", () => {
    expect(partsOf("/steps/a~1b/~0x")).toEqual(["steps", "a/b", "~x"]);
  });
});
