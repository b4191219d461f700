import { describe, expect, expectTypeOf, it } from "vitest";
import { defined } from "./defined.ts";

describe("defined", () => {
  it("leaves out the keys that are undefined, and only those", () => {
    const given = { a: undefined, b: null, c: "", d: 0, e: false, f: "text" };
    expect(Object.entries(defined(given))).toEqual([
      ["b", null],
      ["c", ""],
      ["d", 0],
      ["e", false],
      ["f", "text"],
    ]);
  });

  it("makes optional what may be undefined, and leaves the rest required", () => {
    const given: { readonly a: string | undefined; readonly b: number } = { a: undefined, b: 1 };
    const kept = defined(given);
    expect(kept).toStrictEqual({ b: 1 });
    expectTypeOf(kept.a).toEqualTypeOf<string | undefined>();
    expectTypeOf(kept.b).toEqualTypeOf<number>();
    const exact: { readonly a?: string; readonly b: number } = kept;
    expect("a" in exact).toBe(false);
  });
});
