import { badOption, checkObject } from "../core/check-options.ts";
import type { FullConfig } from "./config.ts";
import type {
  DAGDecision,
  DAGTask,
  DAGWarning,
  StateUpdate,
  TaskProblem,
  TaskResult,
  WorkflowState,
} from "./types.ts";

/** The state while it is being written to. */
export interface Writable {
  messages: unknown[];
  tasks: TaskResult[];
  decisions: DAGDecision[];
  context: Record<string, unknown>;
  checkpoint_id: string | null;
}

/** What the journal keeps of a workflow: its state, and what the executor needs to go on. */
export interface Held extends Writable {
  dag: { tasks: DAGTask[] };
  config: FullConfig;
  status: "running" | "completed" | "aborted";
  skipped: TaskProblem[];
  errors: TaskProblem[];
  /** Speculative tasks whose results were not used. */
  discarded: string[];
  warnings: DAGWarning[];
  /** The number of finished layers. */
  layers: number;
  /** The position up to which commands have been read. */
  heard: number;
  /** The last change of the DAG that a resume has made. */
  replanned: string | null;
}

/** A state in which nothing has happened. */
export const emptyState = (): WorkflowState & Writable => ({
  messages: [],
  tasks: [],
  decisions: [],
  context: {},
  checkpoint_id: null,
});

/**
 * The reducers of the state: messages, tasks and decisions are appended, and the context is merged, one level deep.
 * Returns a new state.
 *
 * @example
 * ```ts
 * import { emptyState, reduceState } from "holdfast/dag";
 *
 * const state = reduceState(emptyState(), { messages: ["hello"], context: { topic: "tides" } });
 * ```
 */
export function reduceState(state: WorkflowState, update: StateUpdate): WorkflowState {
  for (const [option, given] of Object.entries({ state, update })) checkUpdate(option, given);
  const next: Writable = { ...emptyState(), checkpoint_id: state.checkpoint_id };
  addTo(next, state);
  addTo(next, update);
  return next;
}

/** The same, in place. One at a time: a layer may have more results than a call may have arguments. */
export function addTo(state: Writable, { messages, tasks, decisions, context }: StateUpdate): void {
  for (const message of messages ?? []) state.messages.push(message);
  for (const task of tasks ?? []) state.tasks.push(task);
  for (const decision of decisions ?? []) state.decisions.push(decision);
  if (context) Object.assign(state.context, context);
}

export const stateOf = ({
  messages,
  tasks,
  decisions,
  context,
  checkpoint_id,
}: WorkflowState): WorkflowState => ({
  messages,
  tasks,
  decisions,
  context,
  checkpoint_id,
});

function checkUpdate(option: string, given: StateUpdate): void {
  checkObject(option, given);
  for (const list of ["messages", "tasks", "decisions"] as const)
    if (given[list] !== undefined && !Array.isArray(given[list]))
      throw badOption(`${option}.${list}`, "it must be a list");
  if (given.context !== undefined) checkObject(`${option}.context`, given.context);
}
