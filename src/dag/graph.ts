import { badOption, checkParts } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import { encode } from "../core/values/codec.ts";
import { checkTask } from "./check.ts";
import type { DAGDifference, DAGStructure, DAGTask } from "./types.ts";

/**
 * The pure part of a DAG: what may depend on what, and what can run when. Everything here takes time in proportion to
 * the number of tasks and dependencies.
 */

export const dependenciesOf = ({ dependsOn }: Pick<DAGTask, "dependsOn">): readonly string[] =>
  dependsOn ?? [];

/**
 * Refuses a DAG that can't be executed: a malformed task (HF-4550), a task that occurs twice (HF-4551), depends on
 * itself (HF-4552) or on one that doesn't exist (HF-4553), or a circle (HF-4554), which is named with its path.
 *
 * @example
 * ```ts
 * import { validateDag } from "holdfast/dag";
 *
 * validateDag({ tasks: [{ id: "search", tool: "web" }, { id: "write", tool: "model", dependsOn: ["search"] }] });
 * ```
 */
export function validateDag(dag: DAGStructure): void {
  const tasks = tasksOf(dag);
  for (const task of tasks.values()) {
    for (const dependency of dependenciesOf(task)) checkDependency(task.id, dependency, tasks);
  }
  const cycle = findCycle(tasks);
  if (cycle) throw new HoldfastError("HF-4554", { path: cycle.join(" → ") });
}

/** The tasks by id, in order. Refuses malformed ones and those that occur twice. */
export function tasksOf(dag: DAGStructure): Map<string, DAGTask> {
  const list: unknown = (dag as Partial<DAGStructure> | null | undefined)?.tasks;
  if (!Array.isArray(list))
    throw new HoldfastError("HF-4550", { task: "The DAG", problem: "it has no list of tasks" });
  const tasks = new Map<string, DAGTask>();
  for (const given of list) {
    const task = checkTask(given);
    if (tasks.has(task.id)) throw new HoldfastError("HF-4551", { task: task.id });
    tasks.set(task.id, task);
  }
  return tasks;
}

export function checkDependency(
  task: string,
  dependency: string,
  tasks: Pick<ReadonlyMap<string, unknown>, "has">,
): void {
  if (dependency === task) throw new HoldfastError("HF-4552", { task });
  if (!tasks.has(dependency)) throw new HoldfastError("HF-4553", { task, dependency });
}

/** The tasks of a circle in order, the first one again at the end; `undefined` when there is none. */
export function findCycle(tasks: ReadonlyMap<string, DAGTask>): string[] | undefined {
  const done = new Set<string>();
  for (const start of tasks.keys()) {
    const cycle = done.has(start) ? undefined : cycleFrom(start, tasks, done);
    if (cycle) return cycle;
  }
  return undefined;
}

/** Depth first with its own stack: a chain of 10,000 tasks is deeper than calls may be. Marks what leads to no circle. */
export function cycleFrom(
  start: string,
  tasks: ReadonlyMap<string, DAGTask>,
  done = new Set<string>(),
): string[] | undefined {
  const path: string[] = [start];
  const onPath = new Set(path);
  const left = [[...dependenciesOf(tasks.get(start) ?? {})]];
  while (path.length > 0) {
    const id = path.at(-1) ?? start;
    const next = left.at(-1)?.pop();
    if (next === undefined) {
      done.add(id);
      onPath.delete(id);
      path.pop();
      left.pop();
    } else if (onPath.has(next)) {
      return [...path.slice(path.indexOf(next)), next];
    } else if (!done.has(next)) {
      path.push(next);
      onPath.add(next);
      left.push([...dependenciesOf(tasks.get(next) ?? {})]);
    }
  }
  return undefined;
}

/**
 * The tasks in layers: each task is in the first layer after all those it depends on.
 *
 * @example
 * ```ts
 * import { layersOf } from "holdfast/dag";
 *
 * const tasks = [{ id: "a", tool: "t" }, { id: "b", tool: "t", dependsOn: ["a"] }, { id: "c", tool: "t" }];
 * console.log(layersOf({ tasks })); // [["a", "c"], ["b"]]
 * ```
 */
export function layersOf(dag: DAGStructure): string[][] {
  return remainingLayers(dag, []);
}

/** The layers that are left when these tasks are finished. */
export function remainingLayers(dag: DAGStructure, finished: Iterable<string>): string[][] {
  checkParts("dag", dag, { tasks: "list" });
  if (typeof Object(finished)[Symbol.iterator] !== "function")
    throw badOption("finished", "it must be a list of task ids");
  const done = new Set(finished);
  const missing = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  const open = dag.tasks.filter(({ id }) => !done.has(id));
  for (const task of open) {
    const needed = dependenciesOf(task).filter((id) => !done.has(id));
    missing.set(task.id, needed.length);
    for (const id of needed) append(dependents, id, task.id);
  }
  const place = new Map(open.map(({ id }, index) => [id, index]));
  const layers: string[][] = [];
  let layer = open.flatMap(({ id }) => (missing.get(id) === 0 ? [id] : []));
  while (layer.length > 0) {
    layers.push(layer);
    const next: string[] = [];
    for (const id of layer)
      for (const dependent of dependents.get(id) ?? []) {
        const left = (missing.get(dependent) ?? 0) - 1;
        missing.set(dependent, left);
        if (left === 0) next.push(dependent);
      }
    layer = next.sort((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0));
  }
  return layers;
}

export function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** What is different in `after`, task by task: those of `before` in their order, then the added ones. */
export function diffDags(before: DAGStructure, after: DAGStructure): DAGDifference[] {
  checkParts("before", before, { tasks: "list" });
  checkParts("after", after, { tasks: "list" });
  const now = new Map(after.tasks.map((task) => [task.id, task]));
  const known = new Set(before.tasks.map(({ id }) => id));
  const differences = before.tasks.flatMap((task): DAGDifference[] => {
    const other = now.get(task.id);
    return other ? changesOf(task, other) : [{ taskId: task.id, kind: "removed" }];
  });
  const added = after.tasks.filter(({ id }) => !known.has(id));
  return [...differences, ...added.map(({ id }): DAGDifference => ({ taskId: id, kind: "added" }))];
}

function changesOf(before: DAGTask, after: DAGTask): DAGDifference[] {
  const compared: [DAGDifference["kind"], unknown, unknown][] = [
    ["changed_dependencies", [...dependenciesOf(before)].sort(), [...dependenciesOf(after)].sort()],
    ["changed_result_type", before.resultType, after.resultType],
    ["changed_tool", before.tool, after.tool],
    ["changed_arguments", before.arguments ?? {}, after.arguments ?? {}],
    ["changed_effect", before.effect, after.effect],
  ];
  return compared
    .filter(([, one, other]) => !isSame(one, other))
    .map(([kind, one, other]) => ({ taskId: before.id, kind, before: one, after: other }));
}

/** True when both values would be stored alike, whatever the order of their keys. */
const isSame = (one: unknown, other: unknown): boolean =>
  Object.is(one, other) || encode(one, { sorted: true }) === encode(other, { sorted: true });
