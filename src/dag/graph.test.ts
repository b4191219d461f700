import { describe, expect, it } from "vitest";
import { diffDags, layersOf, remainingLayers, validateDag } from "./graph.ts";
import type { DAGStructure, DAGTask } from "./types.ts";

const task = (id: string, ...dependsOn: string[]): DAGTask => ({ id, tool: "t", dependsOn });
const dag = (...tasks: DAGTask[]): DAGStructure => ({ tasks });
const problemOf = (tasks: unknown): unknown => {
  try {
    validateDag({ tasks } as DAGStructure);
    return undefined;
  } catch (error) {
    return error;
  }
};

describe("a graph of tasks", () => {
  it("puts each task into the first layer after those it depends on (S2-03)", () => {
    const tasks = [task("d", "b", "c"), task("a"), task("b", "a"), task("c"), task("e", "d", "a")];
    expect(layersOf(dag(...tasks))).toEqual([["a", "c"], ["b"], ["d"], ["e"]]);
    expect(remainingLayers(dag(...tasks), ["a", "b", "c"])).toEqual([["d"], ["e"]]);
    expect(remainingLayers(dag(...tasks), ["c"])).toEqual([["a"], ["b"], ["d"], ["e"]]);
    expect(layersOf(dag())).toEqual([]);
  });

  it("names a circle with its path", () => {
    expect(problemOf([task("x"), task("a", "c"), task("b", "a"), task("c", "x", "b")])).toMatchObject({
      code: "HF-4554",
      message: "These tasks depend on each other in a circle: a → c → b → a.",
    });
  });

  it("refuses a missing dependency, a duplicate, a task that depends on itself, and what isn't a task", () => {
    expect(problemOf([task("a", "b")])).toMatchObject({
      code: "HF-4553",
      detail: { task: "a", dependency: "b" },
    });
    expect(problemOf([task("a"), task("a")])).toMatchObject({ code: "HF-4551", detail: { task: "a" } });
    expect(problemOf([task("a", "a")])).toMatchObject({ code: "HF-4552" });
    const bad: unknown[] = [
      "a task",
      null,
      {},
      { id: "a" },
      { id: "", tool: "t" },
      { id: "a/b", tool: "t" },
      { id: "a".repeat(200), tool: "t" },
      { id: "__proto__", tool: "t" },
      { id: "a", tool: "t", arguments: [] },
      { id: "a", tool: "t", dependsOn: "b" },
      { id: "a", tool: "t", dependsOn: ["b", "b"] },
      { id: "a", tool: "t", effect: "twice" },
      { id: "a", tool: "t", timeout: 0 },
      { id: "a", tool: "t", speculative: "yes" },
      { id: "a", tool: "t", resultType: 1 },
      { id: "a", tool: "t", depends_on: ["b"] },
    ];
    for (const one of bad) expect(problemOf([one]), JSON.stringify(one)).toMatchObject({ code: "HF-4550" });
    const nothing = "The DAG isn't valid: it has no list of tasks.";
    for (const one of [undefined, "tasks", {}]) expect(problemOf(one)).toMatchObject({ message: nothing });
    expect(problemOf([{ id: "a", tool: "t", depends_on: [] }])).toMatchObject({
      message: "Task a isn't valid: there is no key depends_on (did you mean dependsOn?).",
    });
    expect(problemOf([{ id: "a", tool: "t", depends_on: [] }])).toMatchObject({
      message: expect.stringContaining("did you mean dependsOn") as string,
    });
  });

  it("takes a chain of 10,000 tasks, and a layer of 10,000", () => {
    const chain = Array.from({ length: 10_000 }, (_, n) => task(`t${n}`, ...(n > 0 ? [`t${n - 1}`] : [])));
    validateDag(dag(...chain));
    expect(layersOf(dag(...chain))).toHaveLength(10_000);
    const wide = Array.from({ length: 10_000 }, (_, n) => task(`t${n}`));
    expect(layersOf(dag(...wide, task("all", ...wide.map(({ id }) => id))))).toHaveLength(2);
    const closed = [task("t0", "t9999"), ...chain.slice(1)];
    expect(problemOf(closed)).toMatchObject({ code: "HF-4554" });
  });

  it("compares two DAGs task by task", () => {
    const before = dag(task("a"), { ...task("b", "a"), resultType: "text" }, task("c"), task("d", "a", "b"));
    const after = dag(
      { ...task("d", "b", "a"), arguments: { x: 1 } },
      { ...task("a"), tool: "u", effect: "keyed" },
      { ...task("b"), resultType: "list" },
      task("e"),
    );
    expect(diffDags(before, after)).toEqual([
      { taskId: "a", kind: "changed_tool", before: "t", after: "u" },
      { taskId: "a", kind: "changed_effect", before: undefined, after: "keyed" },
      { taskId: "b", kind: "changed_dependencies", before: ["a"], after: [] },
      { taskId: "b", kind: "changed_result_type", before: "text", after: "list" },
      { taskId: "c", kind: "removed" },
      { taskId: "d", kind: "changed_arguments", before: {}, after: { x: 1 } },
      { taskId: "e", kind: "added" },
    ]);
    expect(diffDags(before, structuredClone(before))).toEqual([]);
  });
});
