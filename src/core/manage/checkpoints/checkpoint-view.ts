import { checkParts } from "../../check-options.ts";
import type { AgentState, Decision } from "../../context.ts";
import { type OpenGate, openGate, type Shown } from "../../control/decisions.ts";
import { defined } from "../../defined.ts";
import { HoldfastError } from "../../errors.ts";
import { addressOf, triggerOf } from "../../journal/address.ts";
import type { EventKind, JournalEvent } from "../../journal/events.ts";
import { dropped } from "../../journal/journal.ts";
import { loadRun } from "../../journal/load.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { labelsOf, remarks } from "../../journal/positions.ts";
import type { RowFold } from "../../journal/row-fold.ts";
import type { RunState } from "../../journal/state.ts";
import { stateDigest, viewState } from "../../journal/state-view.ts";
import { doneIn } from "../../journal/step-log.ts";
import type { Values } from "../../journal/values.ts";
import type { StateView } from "../../types.ts";
import {
  type Budget,
  ended,
  type Origin,
  type Parent,
  type RunRow,
  type RunStatus,
  type Waiting,
} from "../../types.ts";
import { endedSteps, iteratedTask, type StepEnded, type TaskDone } from "./ended-steps.ts";
import { readHistory, type Told } from "./history.ts";
import { measure, openWaits, type Progress, type StepUnderWay, underWay } from "./progress.ts";

/** A run at one position of its journal: everything known about it there. Plain data. */
export interface Checkpoint extends StateView {
  /** The version of this shape. */
  readonly format: 1;
  /** Its address, `run@seq`. */
  readonly id: string;
  readonly run: string;
  readonly seq: number;
  readonly workflow: string;
  readonly version: string;
  readonly schema: number;
  /** When the run was created, and when it reached this position. */
  readonly createdAt: number;
  readonly at: number;
  /** The event here: its kind, its step, the reason, and the actor if a person did it. */
  readonly kind: EventKind;
  readonly step: string;
  readonly trigger: string;
  readonly actor?: string;
  readonly status: RunStatus;
  /** The outermost step, group or loop the run was in. */
  readonly phase: string;
  /** Which of the run's phases that is: 1 for the first, 0 before it. */
  readonly phaseNumber: number;
  readonly progress: Progress;
  readonly current: readonly StepUnderWay[];
  /** Keys of finished steps, in the order of their outcomes; without those of finished iterations. */
  readonly completed: readonly string[];
  readonly failed: readonly string[];
  /** Every step with an outcome up to here, in the order they began, including those of finished iterations. */
  readonly history: readonly StepEnded[];
  /** Planned steps without a result. */
  readonly pending: readonly string[];
  readonly iterations: Readonly<Record<string, Iterations>>;
  readonly budget: Budget | null;
  readonly usage: CheckpointUsage;
  readonly metrics: CheckpointMetrics;
  /** Failed attempts of all steps, and takeovers from dead workers. */
  readonly retries: number;
  readonly recoveries: number;
  readonly failure: Failure | null;
  readonly decisions: readonly DecisionMade[];
  readonly agents: Readonly<Record<string, AgentState>>;
  readonly gates: readonly OpenGate[];
  readonly waits: readonly Waiting[];
  readonly labels: readonly string[];
  readonly pinned: boolean;
  readonly lineage: string;
  readonly origin: Origin | null;
  readonly parent: Parent | null;
  /** Runs it had started. */
  readonly children: readonly string[];
  /** The run's result, once it has completed. */
  readonly result?: unknown;
  /** Equal for equal states of any run: a fork has the digest of its source. */
  readonly digest: string;
  /** The hash of the journal entry, as proof. */
  readonly head: string;
}

export interface Iterations {
  /** Finished iterations. */
  readonly iteration: number;
  readonly done: boolean;
}

export interface CheckpointUsage {
  readonly tokens: number;
  readonly costUsd: number;
  /** Finished loop iterations. */
  readonly turns: number;
  /** Milliseconds in which a worker had the run. */
  readonly activeMs: number;
}

export interface CheckpointMetrics {
  /** Milliseconds since the run's first event; in a fork since that of its source. */
  readonly elapsedMs: number;
  /** Calls that the run has begun, counting every attempt. */
  readonly calls: number;
}

/** The newest failure, as plain data. */
export interface Failure {
  /** The step that failed; "" for the run's own function. */
  readonly step: string;
  readonly attempt?: number;
  readonly at: number;
  readonly name: string;
  readonly message: string;
  readonly code?: string | number;
  /** The error's other fields, such as an HTTP status; absent when it had none. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A recorded decision, with its place and time. */
export interface DecisionMade extends Decision {
  readonly seq: number;
  readonly at: number;
  readonly step: string;
}

type Reader = Pick<EngineParts, "store" | "values">;

/** The state at a position; throws when retention has dropped parts of it. */
export async function stateAt(
  { store, values }: Reader,
  row: RunRow,
  seq: number,
  fold?: RowFold,
): Promise<RunState> {
  if (row.prunedAt !== null) throw dropped(row.id, seq);
  return loadRun(store, values, row, seq, { fold });
}

export async function viewAt(
  reader: Reader,
  row: RunRow,
  seq: number,
): Promise<{ state: RunState; view: StateView }> {
  const state = await stateAt(reader, row, seq);
  return { state, view: await viewState(reader.values, row.id, state) };
}

/** The digest of the full state at a position. Made from every value, so it throws where one of them can't be restored. */
export async function digestAt(reader: Reader, row: RunRow, seq: number): Promise<string> {
  const { state, view } = await viewAt(reader, row, seq);
  return stateDigest(view, state);
}

export async function readCheckpoint(reader: Reader, row: RunRow, seq: number): Promise<Checkpoint> {
  const { store, values } = reader;
  const { state, view } = await viewAt(reader, row, seq);
  const told = await readHistory(store, row, seq);
  const { run, event } = told;
  const { progress, pending } = measure(state, run.stepsDone, run.status);
  const isOver = ended(run.status);
  const settled = [...state.steps()].sort(([, a], [, b]) => a.seq - b.seq);
  return {
    format: 1,
    ...identity(row, seq, told),
    ...view,
    status: run.status,
    progress,
    current: isOver ? [] : underWay(state),
    completed: settled.filter(([, one]) => one.status === "completed").map(([key]) => key),
    failed: settled
      .filter(([, one]) => one.status === "failed" && one.retryAt === undefined)
      .map(([key]) => key),
    history: endedSteps(told.log),
    pending,
    iterations: iterations(state),
    budget: run.budget,
    usage: { ...run.usage, turns: run.turns, activeMs: run.activeMs },
    metrics: { elapsedMs: event.at - told.beganAt, calls: told.calls },
    retries: state.facts.failures,
    recoveries: told.recoveries,
    failure: await failure(values, row.id, told.failure),
    decisions: await decisions(values, row.id, told.decisions),
    agents: await agents(values, row.id, state),
    gates: isOver ? [] : await gates(values, row.id, state),
    waits: isOver ? [] : openWaits(state, run.status === "waiting" ? run.waiting : []),
    ...(await names(reader, row, seq, event)),
    ...(run.status === "completed" && state.outcome
      ? { result: await values.of(row.id, state.outcome) }
      : {}),
    digest: stateDigest(view, state),
  };
}

/** The finished tasks at a position, in the order of their results, including those of finished iterations. */
export async function readTasks(reader: Reader, row: RunRow, seq: number): Promise<readonly TaskDone[]> {
  const { view } = await viewAt(reader, row, seq);
  const { log, event } = await readHistory(reader.store, row, seq);
  const tasks = Object.entries(view.steps).map(([taskId, result]): TaskDone => {
    const logged = log.find(taskId);
    const { at, ms } = (logged && doneIn(logged)) ?? { at: event.at, ms: 0 };
    return { taskId, result, timestamp: at, duration: ms };
  });
  const known = new Set(tasks.map(({ taskId }) => taskId));
  for (const logged of log.steps())
    if (!known.has(logged.step)) tasks.push(...(await iteratedTask(reader.values, row.id, logged)));
  const placeOf = ({ taskId }: TaskDone): number => log.find(taskId)?.attempts.at(-1)?.seq ?? 0;
  return tasks.sort((a, b) => a.timestamp - b.timestamp || placeOf(a) - placeOf(b));
}

function identity(row: RunRow, seq: number, { run, event, phase, phases, log, head }: Told) {
  const { id, workflow, lineage, origin, parent, createdAt } = row;
  const { at, kind, step, actor } = event;
  return {
    id: addressOf(id, seq),
    run: id,
    seq,
    workflow,
    version: run.version,
    schema: run.schema,
    createdAt,
    at,
    kind,
    step,
    trigger: triggerOf(event),
    ...defined({ actor }),
    phase,
    phaseNumber: [...phases].indexOf(phase) + 1,
    lineage,
    origin,
    parent,
    children: [...log.children.keys()],
    head,
  };
}

async function names({ store }: Reader, row: RunRow, seq: number, event: JournalEvent) {
  const said = await remarks(store, row, seq);
  return { labels: labelsOf(said, event), pinned: said.facts.tags.get(seq)?.pinned ?? false };
}

function iterations(state: RunState): Record<string, Iterations> {
  const begun = [...state.loops()].filter(([, loop]) => loop.iteration > 0);
  return Object.fromEntries(begun.map(([key, { iteration, done }]) => [key, { iteration, done }]));
}

/** A value about the past; if retention has dropped it, the rest of the record is still valid. */
async function ifKept(values: Values, runId: string, seq: number): Promise<unknown> {
  try {
    return await values.at(runId, seq);
  } catch (error) {
    if (HoldfastError.is(error, "HF-1023")) return undefined;
    throw error;
  }
}

async function failure(
  values: Values,
  runId: string,
  event: JournalEvent | undefined,
): Promise<Failure | null> {
  if (!event) return null;
  const error = (await ifKept(values, runId, event.seq)) as Partial<Failure> | undefined;
  const code = error?.code;
  const isRun = event.kind === "run_failed";
  return {
    step: event.step,
    ...(event.kind === "step_failed" ? { attempt: event.meta.attempt } : {}),
    at: event.at,
    name: error?.name ?? "Error",
    message: error?.message ?? (isRun ? event.meta.message : ""),
    ...(typeof code === "string" || typeof code === "number" ? { code } : {}),
    ...detailsOf(error),
  };
}

const TOLD = new Set(["name", "message", "stack", "code"]);

function detailsOf(error: object | undefined): Pick<Failure, "details"> {
  const details = Object.entries(error ?? {}).filter(([key]) => !TOLD.has(key));
  return details.length > 0 ? { details: Object.fromEntries(details) } : {};
}

async function decisions(
  values: Values,
  runId: string,
  events: readonly JournalEvent[],
): Promise<DecisionMade[]> {
  const made: DecisionMade[] = [];
  for (const { seq, at, step } of events) {
    const decision = (await ifKept(values, runId, seq)) as Decision | undefined;
    made.push({ ...(decision ?? { description: "" }), seq, at, step });
  }
  return made;
}

async function agents(values: Values, runId: string, state: RunState): Promise<Record<string, AgentState>> {
  const found: [string, AgentState][] = [];
  for (const [name, recorded] of state.facts.agents)
    found.push([name, (await values.of(runId, recorded)) as AgentState]);
  return Object.fromEntries(found);
}

async function gates(values: Values, runId: string, state: RunState): Promise<OpenGate[]> {
  const open = underWay(state).filter(({ type, status }) => type === "gate" && status === "started");
  const shown: OpenGate[] = [];
  for (const { step, since, until } of open) {
    const record = state.find(step);
    if (!record) continue;
    const gate = (await values.of(runId, record)) as Shown;
    shown.push(openGate(runId, step, gate, { args: record.args, until, since }));
  }
  return shown;
}

/** Refuses what isn't a checkpoint as `engine.checkpoints.show` gives it. */
export const checkCheckpoint = (checkpoint: Checkpoint): void =>
  checkParts("checkpoint", checkpoint, {
    id: "text",
    at: "number",
    status: "text",
    current: "list",
    failed: "list",
    history: "list",
    decisions: "list",
    agents: "object",
    metrics: "object",
    usage: "object",
    memory: "object",
  });
