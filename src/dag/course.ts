import { HoldfastError } from "../core/errors.ts";
import { checkCommand } from "./commands.ts";
import { diffDags } from "./graph.ts";
import { Plan, type TaskStatus } from "./plan.ts";
import { addTo, emptyState, type Held, stateOf, type Writable } from "./state.ts";
import type { Toolbox } from "./tools.ts";
import type {
  AppliedCommand,
  DAGCommand,
  DAGDecision,
  DAGStructure,
  DAGTask,
  DAGWarning,
  StateUpdate,
  TaskResult,
} from "./types.ts";
import { warningsOf } from "./warnings.ts";

/** A task that has ended, with what it adds to the state. */
export interface Ended extends TaskResult {
  readonly update?: Pick<StateUpdate, "messages" | "context">;
}

/**
 * The course of a workflow: its plan and its state. Every change goes into the draft that the journal saves, and into a
 * copy in memory, so that nothing has to be read back through the draft.
 */
export class Course {
  plan: Plan;
  /** The state in memory: the same values as the draft's. */
  readonly state: Writable;
  /** Results by task. */
  readonly results = new Map<string, unknown>();
  /** What has happened since the last checkpoint. */
  readonly since: Writable;
  readonly #tools: Toolbox;
  #draft: Held;

  constructor(held: Held, draft: Held, tools: Toolbox) {
    this.#tools = tools;
    this.#draft = draft;
    this.plan = Course.planOf(held);
    const { messages, tasks, decisions, context, checkpoint_id } = stateOf(held);
    this.state = { ...emptyState(), checkpoint_id };
    addTo(this.state, { messages, tasks, decisions, context });
    this.since = emptyState();
    for (const { taskId, result } of tasks) this.results.set(taskId, result);
  }

  static planOf(held: Held): Plan {
    return new Plan(held.dag, statuses(held));
  }

  /** Goes on with the draft of the next layer. */
  next(draft: Held): void {
    this.#draft = draft;
    this.state.checkpoint_id = draft.checkpoint_id;
  }

  reduce(update: StateUpdate): void {
    addTo(this.#draft, update);
    addTo(this.state, update);
    addTo(this.since, update);
  }

  /** Called when a checkpoint has everything. */
  saved(): void {
    for (const list of [this.since.messages, this.since.tasks, this.since.decisions]) list.length = 0;
    this.since.context = {};
  }

  finish({ update, ...task }: Ended): void {
    this.plan.settle(task.taskId, "completed");
    this.results.set(task.taskId, task.result);
    this.reduce({ tasks: [task], ...update });
  }

  /** The task has failed and the workflow goes on: what depends on it is skipped. */
  fail(taskId: string, error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    this.plan.settle(taskId, "failed");
    this.#draft.errors.push({ taskId, problem });
    for (const id of this.plan.below(taskId)) this.#skip(id, `${taskId} has failed`);
  }

  #skip(taskId: string, problem: string): void {
    this.plan.settle(taskId, "skipped");
    this.#draft.skipped.push({ taskId, problem });
  }

  /** Applies a command, or says why not. `ahead`: the results of speculative tasks. */
  apply(given: unknown, ahead: ReadonlyMap<string, Ended> = new Map()): AppliedCommand {
    try {
      const command = checkCommand(given);
      this.#apply(command, ahead);
      return { command, outcome: "applied" };
    } catch (error) {
      if (!HoldfastError.is(error)) throw error;
      return { command: given, outcome: "rejected", code: error.code, problem: error.message };
    }
  }

  /** Throws what is wrong with a command, and changes nothing. */
  static check(plan: Plan, tools: Toolbox, command: DAGCommand): void {
    if (command.type === "add_task") {
      tools.check(command.task);
      if (plan.has(command.task.id)) throw new HoldfastError("HF-4551", { task: command.task.id });
    }
    if ("taskId" in command) checkOpen(plan, command);
    if (command.type === "change_task") tools.check({ ...plan.task(command.taskId), ...command.change });
    if (command.type === "replan_dag") for (const task of command.dag.tasks) tools.check(task);
  }

  #apply(command: DAGCommand, ahead: ReadonlyMap<string, Ended>): void {
    Course.check(this.plan, this.#tools, command);
    switch (command.type) {
      case "add_task":
        this.plan.add(command.task);
        this.#draft.dag.tasks.push(command.task);
        return;
      case "change_task":
        return this.#change({ ...this.plan.task(command.taskId), ...command.change });
      case "skip_task": {
        const below = command.cascade ? this.plan.below(command.taskId) : [];
        this.#skip(command.taskId, command.reason ?? "It was skipped.");
        for (const id of below) this.#skip(id, `It depends on ${command.taskId}, which was skipped.`);
        return;
      }
      case "confirm_task": {
        const result = ahead.get(command.taskId);
        this.plan.confirm(command.taskId);
        this.#change({ ...this.plan.task(command.taskId), speculative: false });
        if (result) this.finish(result);
        return;
      }
      case "discard_task":
        return this.discard(command.taskId);
      case "inject_context":
        return this.reduce({ context: command.context });
      case "add_messages":
        return this.reduce({ messages: command.messages });
      case "replan_dag":
        return void this.replan(command.dag);
      case "abort":
        this.#draft.status = "aborted";
    }
  }

  /** The result of a speculative task, if there is one, is not used. */
  discard(taskId: string): void {
    this.plan.settle(taskId, "discarded");
    this.#draft.discarded.push(taskId);
  }

  #change(task: DAGTask): void {
    this.plan.replace(task);
    this.#draft.dag.tasks[this.plan.placeOf(task.id)] = task;
  }

  /** Goes on with another DAG. Finished tasks stay finished, also those that it doesn't have. */
  replan(dag: DAGStructure): DAGWarning[] {
    const warnings = warningsOf(diffDags(this.plan.structure(), dag), (id) => this.plan.statusOf(id));
    const status = new Map<string, TaskStatus>();
    for (const { id } of dag.tasks) if (this.plan.has(id)) status.set(id, this.plan.statusOf(id));
    for (const [id, one] of status) if (one === "pending" || one === "unconfirmed") status.delete(id);
    this.plan = new Plan(dag, status);
    this.#draft.dag = { tasks: [...dag.tasks] };
    for (const warning of warnings) this.#draft.warnings.push(warning);
    return warnings;
  }

  decided(decision: DAGDecision): void {
    this.reduce({ decisions: [decision] });
  }

  get isAborted(): boolean {
    return this.#draft.status === "aborted";
  }
}

/** Refuses a command for a task that has ended (HF-4558). A discarded one can be confirmed after all. */
function checkOpen(plan: Plan, command: DAGCommand & { taskId: string }): void {
  plan.task(command.taskId);
  const status = plan.statusOf(command.taskId);
  const isRevived = command.type === "confirm_task" && status === "discarded";
  if (status !== "pending" && status !== "unconfirmed" && !isRevived)
    throw new HoldfastError("HF-4558", { task: command.taskId, status });
  const isSpeculative = status === "unconfirmed" || isRevived;
  if ((command.type === "confirm_task" || command.type === "discard_task") && !isSpeculative)
    throw new HoldfastError("HF-4558", { task: command.taskId, status: "not speculative" });
}

function statuses({ tasks, skipped, errors, discarded, dag }: Held): Map<string, TaskStatus> {
  const found = new Map<string, TaskStatus>();
  const dropped = new Set(discarded);
  // A task that was confirmed after all is no longer speculative.
  for (const { id, speculative } of dag.tasks) if (speculative && dropped.has(id)) found.set(id, "discarded");
  for (const { taskId } of skipped) found.set(taskId, "skipped");
  for (const { taskId } of errors) found.set(taskId, "failed");
  for (const { taskId } of tasks) found.set(taskId, "completed");
  return found;
}
