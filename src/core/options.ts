import { badOption, checkKeys, checkNumber, checkObject } from "./check-options.ts";
import { defined } from "./defined.ts";
import { ALL_LIMITS, type Budget } from "./types.ts";

/** Options of `engine.start`. */
export interface StartOptions {
  /** Who starts it. Recorded; a gate with `fourEyes` takes no answer from them. */
  readonly actor?: string;
  /** Why it is started. Recorded; `requireReason` doesn't ask for it. */
  readonly reason?: string;
  /** The same id means the same run: starting it again never creates a second one. */
  readonly id?: string;
  /** The run's limits; a limit given here takes precedence over the workflow's own. */
  readonly budget?: Budget;
  /**
   * Model, parameters, context: plain data that belongs to the run and that `ctx.config` returns after every resume.
   */
  readonly config?: Readonly<Record<string, unknown>>;
  /** A name for people, to find it again; several runs may have the same. */
  readonly name?: string;
  /** Names and values to find runs by, such as `{ team: "payments" }`: up to 32. Its children get them too. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The queue whose limits apply to it. Its children stand in it too. */
  readonly queue?: string;
  /** What it is about, such as a customer: limits and singletons go by it. */
  readonly key?: string;
  /** Of the runs that are due, those with a higher priority are taken first. From -100 to 100; default 0. */
  readonly priority?: number;
  /** When it begins, on the store's clock: a time in milliseconds, or a Date. Until then it waits. Default: at once. */
  readonly startAt?: number | Date;
  /**
   * There is one unended run of this workflow and `key` at a time. `join`: while there is one, the start returns it.
   * `refuse`: the start is refused (HF-5060). A failed run counts as ended.
   */
  readonly singleton?: "join" | "refuse";
  /**
   * Begins once this long has passed without another start of the `key`. Each start postpones the run that
   * hasn't begun, gives it its input, config and budget, and returns it. At most a day.
   */
  readonly debounceMs?: number;
  /**
   * The trace context (W3C `traceparent`) under which it is started: its trace continues that one. Default: that of the
   * active span, if tracing is on.
   */
  readonly traceparent?: string;
}

/** How runs of a workflow file start, where the caller says nothing. */
export type StartDefaults = Pick<StartOptions, "queue" | "key" | "priority" | "singleton" | "debounceMs">;

/** How a child is named, found and queued, where that differs from its parent. It counts when the child is created. */
export type ChildOptions = Pick<StartOptions, "name" | "labels" | "queue" | "key" | "priority">;

/**
 * How often a loop saves its state: every given number of iterations, or `adaptive`: after an iteration that began a
 * `keyed` or `once` step, and otherwise when a second or 100 iterations have passed. Effects never depend on it: their
 * intents are always saved before them.
 */
export type SaveEvery = number | "adaptive";

/** How runs are saved, unless a loop sets it itself. */
export interface CheckpointStrategy {
  readonly every?: SaveEvery;
}

export function checkEvery(every: SaveEvery, option = "every"): SaveEvery {
  if (every === "adaptive" || (Number.isInteger(every) && every >= 1)) return every;
  throw badOption(option, 'it must be a whole number of 1 or more, or "adaptive"');
}

export function checkStrategy(given: CheckpointStrategy | undefined): CheckpointStrategy | undefined {
  checkKeys(given ?? {}, ["every"], "checkpoint");
  if (given?.every !== undefined) checkEvery(given.every, "checkpoint.every");
  return given;
}

/** How often, and at what intervals, a failed step is retried. */
export interface RetryPolicy {
  /** Calls in total, including the first one. */
  readonly attempts: number;
  /** The longest wait before the second call; it grows by `factor` with every further one, up to `maxMs`. */
  readonly baseMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** The longest wait in total, over all attempts. */
  readonly maxWaitMs: number;
}

/** A step's `retry` option: a policy or parts of one, a number of attempts, or `false` for one. */
export type RetryOption = Partial<RetryPolicy> | number | false;

export const TRIGGERS = [
  "phase_started",
  "phase_completed",
  "specialist_finished",
  "evaluation_completed",
  "confidence_threshold_crossed",
  "error_encountered",
  "memory_pressure_high",
  "user_requested",
  "debug_breakpoint",
  "before_risky_operation",
  "subtask_completed",
] as const;

/**
 * Why a checkpoint was marked. The run passes any of them to `ctx.checkpoint`; the engine sets six automatically, see
 * {@link Triggers}.
 */
export type CheckpointTrigger = (typeof TRIGGERS)[number];

/** When the engine marks a checkpoint automatically. Marks are written with other events and never cause a write. */
export interface Triggers {
  /**
   * Marks `confidence_threshold_crossed` when a value reported by `ctx.agent` crosses this, in either direction.
   * Default 0.5.
   */
  readonly confidence?: number;
  /**
   * The share of the heap that counts as too much. Above it no run is taken, and each active one marks
   * `memory_pressure_high` and saves a snapshot if it is in a loop, until the share has fallen again. Default 0.85,
   * even without triggers.
   */
  readonly memoryPressure?: number;
  /** Marks `error_encountered` when a step fails for good. Default true. */
  readonly errors?: boolean;
  /** Marks `phase_completed` when a step or a loop named by `ctx.plan` ends. Default true. */
  readonly phases?: boolean;
  /**
   * Marks `specialist_finished` when an agent reports (`ctx.agent`) that it is `done`, `completed` or `finished`.
   * Default true.
   */
  readonly agents?: boolean;
  /** Marks `evaluation_completed` for each `ctx.decide` of type `evaluation`. Default true. */
  readonly evaluations?: boolean;
}

/** The triggers of one workflow. The share of the heap that counts as too much is a setting of the engine. */
export interface WorkflowTriggers extends Omit<Triggers, "confidence" | "memoryPressure"> {
  /** The threshold, or `false` for no marks. Default 0.5. */
  readonly confidence?: number | false;
  /** Marks `memory_pressure_high` in its runs. Default true. */
  readonly memoryPressure?: boolean;
}

const SWITCHES = ["errors", "phases", "agents", "evaluations", "memoryPressure"] as const;

export function checkWorkflowTriggers(
  given: WorkflowTriggers | false | undefined,
): WorkflowTriggers | false | undefined {
  if (given === undefined || given === false) return given;
  checkObject("triggers", given, "an object of triggers, or false");
  checkKeys(given, ["confidence", ...SWITCHES], "triggers");
  for (const key of SWITCHES)
    if (given[key] !== undefined && typeof given[key] !== "boolean")
      throw badOption(`triggers.${key}`, "it must be true or false");
  const { confidence = false } = given;
  if (confidence !== false) checkNumber("triggers.confidence", confidence, { above: 0, most: 1 });
  return given;
}

/** Returns the limits; throws HF-1003 when one makes no sense. */
export function checkBudget(budget: Budget | undefined, option = "budget"): Budget | undefined {
  if (budget === undefined) return undefined;
  checkObject(option, budget, "an object of limits");
  const limits = defined(budget);
  checkKeys(limits, ALL_LIMITS, option, "limit");
  for (const [key, limit] of Object.entries(limits)) checkNumber(`${option}.${key}`, limit);
  return Object.keys(limits).length === 0 ? undefined : limits;
}
