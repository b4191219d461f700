import { describe, expect, it } from "vitest";
import { type Step, treeOf } from "../outline/tree.ts";
import { edgesOf, levelOf } from "./model.ts";

const step = (name: string, startedAt: number, endedAt: number): Step => ({
  step: name,
  within: "",
  type: "call",
  effect: "repeatable",
  state: "done",
  attempts: [{ attempt: 1, startedAt, endedAt, outcome: "done" }],
  seq: 1,
});

const tree = (steps: readonly Step[], pending: readonly string[] = []) =>
  treeOf({ steps, pending, loops: [], agents: [], marks: [] });

const told = (steps: readonly Step[], pending: readonly string[] = []): readonly string[] =>
  edgesOf(tree(steps, pending), 999).map(({ from, to, isTaken }) => `${from} ${isTaken ? "→" : "⇢"} ${to}`);

describe("the arrows of a graph", () => {
  it("lead from each step to the next, and on to what is planned (S1-32)", () => {
    expect(told([step("a", 0, 1), step("b", 2, 3), step("c", 4, 5)], ["d", "e"])).toEqual([
      "a → b",
      "b → c",
      "c ⇢ d",
      "d ⇢ e",
    ]);
  });

  it("fork to what ran side by side and join again", () => {
    const steps = [step("load", 0, 1), step("x", 2, 9), step("y", 2, 5), step("pay", 10, 11)];
    expect(told(steps)).toEqual(["load → x", "load → y", "x → pay", "y → pay"]);
  });
});

describe("the levels of a graph", () => {
  it("draw groups of up to 20 open, larger ones closed until somebody opens them, and never thousands", () => {
    const members = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) => step(`${name}[${index}]`, 0, 1));
    const nodes = tree([...members("few", 3), ...members("many", 21), ...members("lots", 201)]);
    const open = (folds: ReadonlyMap<string, boolean>): readonly boolean[] =>
      levelOf(nodes, folds, 0).nodes.map(({ inside }) => inside !== null);
    expect(open(new Map())).toEqual([true, false, false]);
    expect(open(new Map(nodes.map(({ key }) => [key, true])))).toEqual([true, true, false]);
  });
});
