import { describe, expect, it } from "vitest";
import { continued, type Gathered } from "./gather.ts";
import type { Outline, Step } from "./tree.ts";

const step = (name: string, seq: number, state: Step["state"] = "done"): Step => ({
  step: name,
  within: "",
  type: "call",
  effect: "repeatable",
  state,
  attempts: [],
  seq,
});

const ANSWER: Outline = {
  run: "r",
  seq: 0,
  since: 0,
  progress: { done: 0, text: "0" },
  steps: [],
  total: 0,
  next: null,
  pending: [],
  loops: [],
  agents: [],
  marks: [],
  decisions: [],
  children: [],
  recoveries: 0,
  resumes: 0,
  saved: { tokens: 0, costUsd: null, unpriced: 0, steps: 0, ms: 0 },
};

/** Answers from a list, and keeps what was asked. */
function script(...answers: readonly Partial<Outline>[]) {
  const asked: unknown[] = [];
  const left = [...answers];
  const ask = async (page: unknown): Promise<Outline> => {
    asked.push(page);
    return { ...ANSWER, ...left.shift() };
  };
  return { ask, asked };
}

const names = ({ outline }: Gathered): readonly string[] =>
  outline.steps.map((one) => `${one.step} ${one.state}`);

describe("gathering an outline", () => {
  it("asks for pages one after the other, then only for what moved since the first one", async () => {
    const { ask, asked } = script(
      { seq: 10, steps: [step("a", 1, "under way")], next: 1 },
      { seq: 14, steps: [step("b", 12)], next: null },
      { seq: 20, since: 10, steps: [step("a", 15), step("c", 16)] },
    );
    let known = await continued(undefined, ask);
    expect(names(known)).toEqual(["a under way"]);
    known = await continued(known, ask);
    known = await continued(known, ask);
    expect(names(known)).toEqual(["a done", "b done", "c done"]);
    expect(known).toMatchObject({ next: null, outline: { seq: 20 } });
    expect(asked).toEqual([{ limit: 500 }, { from: 1, limit: 2_000 }, { since: 10, limit: 2_000 }]);
  });

  it("begins again when the server says that all steps may have changed", async () => {
    const { ask } = script(
      { seq: 5, steps: [step("a", 1)] },
      { seq: 9, since: 0, steps: [step("z", 1)], next: 1 },
    );
    const known = await continued(undefined, ask);
    const again = await continued(known, ask);
    expect(names(again)).toEqual(["z done"]);
    expect(again.next).toBe(1);
  });

  it("keeps the same object when nothing moved, so that nothing is drawn again", async () => {
    const { ask } = script({ seq: 5, steps: [step("a", 1)] }, { seq: 5, since: 5 });
    const known = await continued(undefined, ask);
    expect((await continued(known, ask)).outline).toBe(known.outline);
  });
});
