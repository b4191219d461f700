import { describe, expect, it } from "vitest";
import { editsOf, type State } from "./edits.ts";

const state: State = {
  input: { batch: 7 },
  config: {},
  memory: { model: "small", note: "x" },
  loops: {},
  steps: { load: [1, 2], rate: 3 },
};

describe("the edits of a state", () => {
  it("are the parts that differ, and taking a key out of memory is one", () => {
    const after = { ...state, memory: { model: "large" }, steps: { ...(state.steps as object), load: [2] } };
    expect(editsOf(state, after)).toEqual({
      isValid: true,
      edits: { memory: { model: "large", note: { $: ["undefined"] } }, steps: { load: [2] } },
      names: ["memory.model", "memory.note", "steps.load"],
    });
    expect(editsOf(state, structuredClone(state))).toEqual({ isValid: true, edits: {}, names: [] });
  });

  it("are refused when a finished step is missing, or a part is unknown", () => {
    expect(editsOf(state, { ...state, steps: { load: [1, 2] } })).toMatchObject({
      isValid: false,
      message: expect.stringContaining("steps.rate"),
    });
    expect(editsOf(state, { ...state, extra: 1 })).toMatchObject({ isValid: false });
    expect(editsOf(state, [])).toMatchObject({ isValid: false });
    expect(editsOf(state, { ...state, memory: 4 })).toMatchObject({ isValid: false });
  });
});
