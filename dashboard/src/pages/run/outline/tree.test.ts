import { describe, expect, it } from "vitest";
import { firstFailed, pathTo, rowsOf } from "./rows.ts";
import { type Node, type Step, treeOf } from "./tree.ts";

const step = (key: string, state: Step["state"] = "done"): Step => ({
  step: key,
  within: "",
  type: "call",
  effect: "repeatable",
  state,
  attempts: [],
  seq: 1,
});

const EMPTY = { pending: [], loops: [], agents: [], marks: [] };
const mark = (at: string, label: string, trigger: string) => ({ seq: 1, at: 1, step: at, label, trigger });

/** A tree in a few words. */
const told = (nodes: readonly Node[]): readonly unknown[] =>
  nodes.map(({ kind, name, state, children }) =>
    children.length === 0 ? `${kind} ${name} ${state}` : [`${kind} ${name} ${state}`, ...told(children)],
  );

describe("the tree of a run", () => {
  it("shows a loop with its turns, and what is planned as not started (S1-32)", () => {
    const tree = treeOf({
      ...EMPTY,
      steps: [step("load"), step("rounds[0]/ask"), step("rounds[1]/ask", "under way")],
      pending: ["pay"],
      loops: [{ loop: "rounds", iteration: 1, done: false }],
    });
    expect(told(tree)).toEqual([
      "step load done",
      ["loop rounds under way", ["turn 1 done", "step ask done"], ["turn 2 under way", "step ask under way"]],
      "step pay not started",
    ]);
  });

  it("shows branches side by side, with what is inside each of them", () => {
    const steps = [
      step("match[0]"),
      step("match[1]", "failed"),
      step("match[0]/compare"),
      step("all[security]"),
    ];
    const tree = treeOf({ ...EMPTY, steps });
    expect(told(tree)).toEqual([
      ["items match failed", ["item 0 done", "step compare done"], "item 1 failed"],
      ["items all done", "item security done"],
    ]);
    expect(tree[0]?.counts).toEqual({ done: 1, total: 2, failed: 1, open: 0 });
    expect(firstFailed(tree)?.key).toBe("match[1]");
  });

  it("shows a DAG as its layers", () => {
    const tree = treeOf({
      ...EMPTY,
      steps: [step("layer[0]/plan"), step("layer[1]/moon"), step("layer[1]/tides", "under way")],
      loops: [{ loop: "layer", iteration: 1, done: false }],
      marks: [mark("layer[1]/checkpoint:layer-1", "layer-1", "phase_completed")],
    });
    expect(told(tree)).toEqual([
      ["layer 1 done", "step plan done"],
      ["layer 2 under way", "step moon done", "step tides under way"],
    ]);
  });

  it("shows a phase with its agents and their subtasks, and a confidence that is too low", () => {
    const tree = treeOf({
      ...EMPTY,
      steps: [
        step("research[0]/mercury[0]/gather"),
        step("research[0]/mercury[0]/write"),
        step("research[1]/mercury[0]/gather"),
      ],
      loops: [
        { loop: "research", iteration: 2, done: true },
        { loop: "research[0]/mercury", iteration: 1, done: true },
      ],
      agents: [{ agent: "mercury", seq: 1, at: 1 }],
      marks: [
        mark("research[0]/checkpoint:x", "phase 1 started", "phase_started"),
        mark("research[0]/mercury[0]/checkpoint:y", "mercury below 0.75", "confidence_threshold_crossed"),
      ],
    });
    expect(told(tree)).toEqual([
      [
        "phase research done",
        ["round 1 done", ["agent mercury done", "step gather done", "step write done"]],
        ["round 2 done", ["agent mercury done", "step gather done"]],
      ],
    ]);
    expect(pathTo(tree, "research[0]/mercury").at(-1)?.notes).toEqual(["mercury below 0.75"]);
  });

  it("counts more than 20 children instead of showing them, unless somebody opens them", () => {
    const steps = Array.from({ length: 21 }, (_, index) => step(`each[${index}]`));
    const tree = treeOf({ ...EMPTY, steps });
    expect(rowsOf(tree, new Map())).toHaveLength(1);
    expect(rowsOf(tree, new Map([["each", true]]))).toHaveLength(22);
  });

  it("finds the nodes around a step", () => {
    const tree = treeOf({ ...EMPTY, steps: [step("a[0]/b"), step("c")] });
    expect(pathTo(tree, "a[0]/b").map(({ key }) => key)).toEqual(["a", "a[0]", "a[0]/b"]);
    expect(pathTo(tree, "nowhere")).toEqual([]);
  });
});
