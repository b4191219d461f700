import { checkObject, checkParts } from "../../check-options.ts";
import { actOf, isRetrying, isStopped } from "../../journal/going-on.ts";
import { reasonOf, sentenceOf } from "../../journal/wait-reason.ts";
import { isInside } from "../../keys.ts";
import { ended, type RunRow, terminal, WAIT_KINDS, type Waiting } from "../../types.ts";
import type { StepUnderWay } from "../checkpoints/progress.ts";
import type { Stall } from "./stalled.ts";

/** Knowledge beyond the run's row. Each part makes the sentence more precise. */
export interface RunDetails {
  readonly open?: readonly StepUnderWay[];
  /** Who paused or cancelled it. */
  readonly by?: string | undefined;
  /** It was undone when it failed, and can't be resumed. */
  readonly undone?: boolean;
  /** Runs below it that aren't paused yet, although they were told to. */
  readonly pausingBelow?: readonly string[];
  /** Runs below it that wait because its budget is reached. */
  readonly heldBelow?: readonly string[];
  /** What it waits for in its queue. */
  readonly place?: string | undefined;
  /** The last saved position, while saving fails. */
  readonly unsavedSince?: number | undefined;
  /** Why it makes no progress. */
  readonly stalled?: Stall | null;
}

export interface RunSentence {
  /** One plain sentence: what the run does, or why it does nothing. */
  readonly headline: string;
  /** Since when, in epoch milliseconds. */
  readonly since: number;
  /** What a person can do about it. */
  readonly can: readonly Possible[];
}

export type Possible =
  | "answer"
  | "resolve"
  | "signal"
  | "resume"
  | "raise budget"
  | "migrate"
  | "pause"
  | "cancel"
  | "fork"
  /** The next attempt of a failed step needn't wait for its time. */
  | "retry"
  | "inject"
  | "delete";

/** Only the row is needed, so it costs nothing in a list. */
export type DescribedRow = Omit<RunRow, "head">;

/**
 * Describes a run in one sentence, for lists and pages.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 * import { describeRun } from "holdfast/manage";
 *
 * export async function printRuns(engine: Engine): Promise<void> {
 *   const { runs } = await engine.list({ limit: 20 });
 *   for (const run of runs) console.log(run.id, describeRun(run).headline);
 * }
 * ```
 */
export function describeRun(row: DescribedRow, details: RunDetails = {}): RunSentence {
  checkParts("run", row, { status: "text", waiting: "list", createdAt: "number" });
  checkObject("details", details);
  const { open = [], unsavedSince, stalled, heldBelow = [] } = details;
  const [wait, ...others] = pressing(row);
  const more = others.length > 0 ? ` (and ${others.length} more)` : "";
  const sentence = wait ? `${waitText(row, wait)}${more}` : text(row, details);
  return {
    headline: [
      sentence,
      ...(stalled ? [stalled.reason] : []),
      ...(heldBelow.length === 0 ? [] : [`budget reached, which holds ${listed(heldBelow)} below it`]),
      ...(row.prunedAt === null ? [] : ["its values are dropped"]),
      ...(unsavedSince === undefined ? [] : [`not saved since #${unsavedSince}`]),
    ].join("; "),
    since:
      wait?.since ??
      (row.status === "running" ? open[0]?.since : undefined) ??
      row.finishedAt ??
      row.updatedAt,
    can: possible(row, details),
  };
}

function text(row: DescribedRow, { open = [], by, stalled, pausingBelow = [], place }: RunDetails): string {
  const steps = named(open);
  if (row.control === "compensating") return steps ? `cancelling: at ${steps}` : "cancelling";
  const below = pausingBelow.length === 0 ? "" : `; not paused yet below it: ${listed(pausingBelow)}`;
  if (row.control === "pausing") {
    // Without a worker, no call is being finished.
    const calls = stalled ? "" : named(open, true);
    return `${calls ? `pausing: finishing ${calls}` : "pausing"}${below}`;
  }
  if (row.status === "paused")
    return `${because(by === undefined ? "paused" : `paused by ${by}`, row.error)}${below}`;
  switch (row.status) {
    case "running":
      return steps ? `running: ${steps}` : "running";
    case "queued":
      return `queued: ${place ?? "waits for a worker"}`;
    case "failed":
      return because("failed", row.error);
    case "cancelled":
      return by === undefined ? "cancelled" : `cancelled by ${by}`;
    default:
      return row.status;
  }
}

const because = (what: string, why: string | null | undefined): string => (why ? `${what}: ${why}` : what);

/** Only innermost steps: the ones around them are in progress because of them. `calls`: without waiting ones. */
function named(open: readonly StepUnderWay[], calls = false): string {
  const inner = open.filter(({ step }) => !open.some((other) => isInside(other.step, step)));
  const isCall = ({ type, status }: StepUnderWay) => CALLS.includes(type) && status === "started";
  return listed((calls ? inner.filter(isCall) : inner).map(({ step }) => step));
}

const CALLS: readonly StepUnderWay["type"][] = ["call", "transaction"];

const listed = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");

/** A run that is about to continue waits for nothing, whatever it has waited for. */
const pressing = ({ status, waiting }: DescribedRow): Waiting[] =>
  status === "waiting"
    ? [...waiting].sort((a, b) => WAIT_KINDS.indexOf(a.kind) - WAIT_KINDS.indexOf(b.kind))
    : [];

function waitText(row: DescribedRow, wait: Waiting): string {
  const { kind, step, since, until, names = [] } = wait;
  const why = sentenceOf(wait);
  switch (kind) {
    case "gate":
      return `waiting for approval at gate ${step} since ${time(since)}`;
    case "decision":
      return `waiting for a decision: the outcome of ${step} is unknown`;
    case "review":
      return because("waiting for review", why);
    case "budget":
      return `waiting: budget reached (${reached(row) || (why ?? step)})`;
    case "policy":
      return `waiting: ${why ?? `${step} is not allowed`}`;
    case "content":
      return `waiting: ${why ?? `a value is held back at ${step}`}`;
    case "migration":
      return because("waiting for a migration", why);
    case "key":
      return because("waiting for its key", why);
    case "signal":
      return `${why === undefined ? "" : `${why}, `}waiting for signal ${names.join(" or ")} since ${time(since)}`;
    case "child":
      return `waiting for child run ${reasonOf(wait).child ?? step} since ${time(since)}`;
    case "retry":
      return `waiting to try ${step} again at ${time(until ?? since)}`;
    case "limit":
      return `${(why ?? `waiting for a rate limit at ${step}`).replace(/\.$/, "")}; continues at ${time(until ?? since)}`;
    case "timer":
      return `waiting at ${step} until ${time(until ?? since)}`;
    case "start":
      return `starts at ${time(until ?? since)}`;
  }
}

const time = (at: number): string => new Date(at).toISOString();

/** The reached limits, such as `tokens 1,200 of 1,000`. */
function reached({ budget, usage, turns, activeMs }: DescribedRow): string {
  const used = { turns, tokens: usage.tokens, costUsd: usage.costUsd, wallMs: activeMs };
  return Object.entries(used)
    .flatMap(([name, value]) => {
      const limit = budget?.[name as keyof typeof used];
      return limit === undefined || value < limit ? [] : [`${name} ${number(value)} of ${number(limit)}`];
    })
    .join(", ");
}

const number = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 6 });

function possible(row: DescribedRow, { undone, heldBelow = [] }: RunDetails): Possible[] {
  const { status, control, prunedAt } = row;
  const can = new Set<Possible>();
  for (const { kind } of pressing(row)) {
    const act = actOf(kind);
    if (act) can.add(act);
  }
  if (heldBelow.length > 0) can.add("raise budget");
  const isOver = status === "failed" && undone === true;
  if (isStopped(row) && !isOver && prunedAt === null) can.add("resume");
  if (control === "none" && !ended(status) && status !== "paused") can.add("pause");
  if (!terminal(status) && control !== "compensating") can.add("cancel");
  if (prunedAt === null) can.add("fork");
  if (!terminal(status) && control !== "compensating" && isRetrying(row)) can.add("retry");
  if (!terminal(status) && prunedAt === null) can.add("inject");
  if (ended(status)) can.add("delete");
  return [...can];
}
