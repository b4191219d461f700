import { describe, expect, it } from "vitest";
import { previewed } from "./previewed.ts";

const whole = (value: unknown) => {
  const text = JSON.stringify(value);
  return { text, length: text.length, isWhole: true };
};

describe("a previewed state", () => {
  it("has the whole values to edit, and the beginning of the others to look at", () => {
    const { state, cut, shown } = previewed({
      id: "r@4",
      run: "r",
      seq: 4,
      input: whole({ a: 1 }),
      config: {},
      memory: { model: whole("small") },
      loops: {},
      steps: { load: whole([1]), dump: { text: '["xxx', length: 50_000_000, isWhole: false } },
      result: null,
      isCut: false,
    });
    expect(state).toEqual({
      input: { a: 1 },
      config: {},
      memory: { model: "small" },
      loops: {},
      steps: { load: [1] },
    });
    expect(cut).toEqual(["steps.dump"]);
    expect(shown["steps"]).toMatchObject({ load: [1], dump: expect.stringContaining('["xxx') });
  });
});
