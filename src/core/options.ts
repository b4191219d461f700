import { badOption, checkKeys, checkNumber, checkObject } from "./check-options.ts";
import { defined } from "./defined.ts";
import { ALL_LIMITS, type Budget } from "./types.ts";

export interface StartOptions {
  /** The same id is the same run: starting it again never makes a second one. */
  readonly id?: string;
  /** What the run may use up; a limit given here comes before the workflow's own. */
  readonly budget?: Budget;
  /** Model, parameters, context: plain data that belongs to the run and that `ctx.config` gives back, after every resume. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/**
 * How often a loop saves its state: every so many iterations, or `adaptive`: after an iteration that began a `keyed` or `once` step, and
 * else when a second has passed since, or 100 iterations have. Effects never depend on it: what is saved before them is.
 */
export type SaveEvery = number | "adaptive";

/** How runs are saved, where a loop does not say it itself. */
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

/** How often, and how far apart, a failed step is tried again. */
export interface RetryPolicy {
  /** Calls in total, the first one included. */
  readonly attempts: number;
  /** Longest wait before the second call; grows by `factor` with every further one, up to `maxMs`. */
  readonly baseMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Longest wait in total, over all attempts. */
  readonly maxWaitMs: number;
}

/** What a step's `retry` option takes: a policy or parts of one, a number of attempts, or `false` for one. */
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
] as const;

/** Why a checkpoint was marked. The run gives any of them to `ctx.checkpoint`; the engine marks six by itself, see {@link Triggers}. */
export type CheckpointTrigger = (typeof TRIGGERS)[number];

/** When the engine marks a checkpoint by itself. Marks travel with other writes and never cause one. */
export interface Triggers {
  /** Mark `confidence_threshold_crossed` when what `ctx.agent` reports passes this, either way. Default 0.5. */
  readonly confidence?: number;
  /**
   * Share of the heap that counts as too much. From then on no run is taken, and each one under way marks `memory_pressure_high` and
   * saves a snapshot if it is in a loop, until the share has fallen again. Default 0.85, also where no triggers are given.
   */
  readonly memoryPressure?: number;
  /** Mark `error_encountered` when a step fails for good. Default true. */
  readonly errors?: boolean;
  /** Mark `phase_completed` when a step or a loop ends that `ctx.plan` has named. Default true. */
  readonly phases?: boolean;
  /** Mark `specialist_finished` when an agent reports (`ctx.agent`) that it is `done`, `completed` or `finished`. Default true. */
  readonly agents?: boolean;
  /** Mark `evaluation_completed` for each `ctx.decide` of type `evaluation`. Default true. */
  readonly evaluations?: boolean;
}

/** The limits given, or HF-1003 where one makes no sense. */
export function checkBudget(budget: Budget | undefined, option = "budget"): Budget | undefined {
  if (budget === undefined) return undefined;
  checkObject(option, budget, "an object of limits");
  const limits = defined(budget);
  checkKeys(limits, ALL_LIMITS, option, "limit");
  for (const [key, limit] of Object.entries(limits)) checkNumber(`${option}.${key}`, limit);
  return Object.keys(limits).length === 0 ? undefined : limits;
}
