import { HoldfastError } from "../core/errors.ts";
import { didYouMean } from "../core/nearest.ts";
import { append, checkDependency, cycleFrom, dependenciesOf, tasksOf } from "./graph.ts";
import type { DAGStructure, DAGTask } from "./types.ts";

export type TaskStatus = "pending" | "unconfirmed" | "completed" | "failed" | "skipped" | "discarded";

/** What depends on a task in one of these goes on. */
const SETTLED: readonly TaskStatus[] = ["completed", "skipped"];

/**
 * A DAG in the course of its execution: which tasks are finished, and which can start. Each change costs as much as it
 * changes, so that the whole execution takes time in proportion to tasks and dependencies.
 */
export class Plan {
  readonly #tasks: Map<string, DAGTask>;
  readonly #places = new Map<string, number>();
  readonly #dependents = new Map<string, string[]>();
  /** The number of dependencies that aren't settled. */
  readonly #missing = new Map<string, number>();
  readonly #status = new Map<string, TaskStatus>();
  /** Tasks that can start, in no order. */
  readonly #ready = new Set<string>();

  /** `status`: of the tasks that are no longer open. */
  constructor(dag: DAGStructure, status: ReadonlyMap<string, TaskStatus> = new Map()) {
    this.#tasks = tasksOf(dag);
    for (const task of this.#tasks.values()) {
      this.#places.set(task.id, this.#places.size);
      this.#status.set(task.id, status.get(task.id) ?? (task.speculative ? "unconfirmed" : "pending"));
    }
    for (const task of this.#tasks.values()) this.#connect(task);
  }

  #connect(task: DAGTask): void {
    const needed = dependenciesOf(task);
    for (const id of needed) append(this.#dependents, id, task.id);
    this.#missing.set(task.id, needed.filter((id) => !SETTLED.includes(this.statusOf(id))).length);
    this.#consider(task.id);
  }

  #consider(id: string): void {
    const isOpen = this.#status.get(id) === "pending" || this.#status.get(id) === "unconfirmed";
    if (isOpen && this.#missing.get(id) === 0) this.#ready.add(id);
    else this.#ready.delete(id);
  }

  has(id: string): boolean {
    return this.#tasks.has(id);
  }

  /** Refuses an id that isn't in the DAG (HF-4559). */
  task(id: string): DAGTask {
    const task = this.#tasks.get(id);
    if (task) return task;
    const likely = didYouMean(id, this.#tasks.keys());
    throw new HoldfastError("HF-4559", { task: id.slice(0, 128), likely });
  }

  /** Where the task is in the list. */
  placeOf(id: string): number {
    return this.#places.get(id) ?? -1;
  }

  statusOf(id: string): TaskStatus {
    return this.#status.get(id) ?? "pending";
  }

  /** The tasks of the next layer, in the order of the DAG. */
  ready(): DAGTask[] {
    return this.#startable("pending");
  }

  /** Speculative tasks that could be started ahead. */
  speculative(): DAGTask[] {
    return this.#startable("unconfirmed");
  }

  #startable(status: TaskStatus): DAGTask[] {
    return [...this.#ready]
      .filter((id) => this.statusOf(id) === status)
      .sort((a, b) => this.placeOf(a) - this.placeOf(b))
      .map((id) => this.task(id));
  }

  /** The DAG as it is now. */
  structure(): DAGStructure {
    return { tasks: [...this.#tasks.values()] };
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** The tasks that are left, in order. */
  open(): DAGTask[] {
    return [...this.#tasks.values()].filter(({ id }) =>
      ["pending", "unconfirmed"].includes(this.statusOf(id)),
    );
  }

  /** Ends a task; what waited only for it can start. */
  settle(id: string, status: Exclude<TaskStatus, "pending" | "unconfirmed">): void {
    const before = this.statusOf(id);
    this.#status.set(id, status);
    this.#consider(id);
    if (SETTLED.includes(before) === SETTLED.includes(status)) return;
    for (const dependent of this.#dependents.get(id) ?? []) {
      this.#missing.set(dependent, (this.#missing.get(dependent) ?? 0) - 1);
      this.#consider(dependent);
    }
  }

  /** Everything that depends on a task, directly or not, and is open; in the order of the DAG. */
  below(id: string): string[] {
    const found = new Set<string>();
    const left = [id];
    for (let next = left.pop(); next !== undefined; next = left.pop())
      for (const dependent of this.#dependents.get(next) ?? []) {
        if (found.has(dependent) || !["pending", "unconfirmed"].includes(this.statusOf(dependent))) continue;
        found.add(dependent);
        left.push(dependent);
      }
    return [...found].sort((a, b) => this.placeOf(a) - this.placeOf(b));
  }

  /** Makes a speculative task part of the plan, also one that was discarded before. */
  confirm(id: string): void {
    this.#status.set(id, "pending");
    this.#consider(id);
  }

  add(task: DAGTask): void {
    if (this.has(task.id)) throw new HoldfastError("HF-4551", { task: task.id });
    for (const id of dependenciesOf(task)) checkDependency(task.id, id, this.#tasks);
    this.#places.set(task.id, this.#places.size);
    this.#tasks.set(task.id, task);
    this.#status.set(task.id, task.speculative ? "unconfirmed" : "pending");
    this.#connect(task);
  }

  /** Replaces an open task. Refuses one that would depend on itself in the end (HF-4554). */
  replace(task: DAGTask): void {
    const before = this.task(task.id);
    for (const id of dependenciesOf(task)) checkDependency(task.id, id, this.#tasks);
    this.#tasks.set(task.id, task);
    const cycle = cycleFrom(task.id, this.#tasks);
    if (cycle) {
      this.#tasks.set(task.id, before);
      throw new HoldfastError("HF-4554", { path: cycle.join(" → ") });
    }
    for (const id of dependenciesOf(before)) {
      const others = (this.#dependents.get(id) ?? []).filter((one) => one !== task.id);
      this.#dependents.set(id, others);
    }
    if (this.statusOf(task.id) !== "discarded")
      this.#status.set(task.id, task.speculative ? "unconfirmed" : "pending");
    this.#connect(task);
  }
}
