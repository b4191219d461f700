import { HoldfastError } from "../errors.ts";
import type { EventDraft, UsageMeta } from "../journal/events.ts";
import type { StepPlace } from "../run/call.ts";
import type { Execution } from "../run/execution.ts";
import { UNDO } from "../run/replay.ts";
import type { Frame } from "../run/scope.ts";
import { addUsage, type Budget, NO_USAGE, type RunRow } from "../types.ts";
import type { Admitted, Guard } from "./guard.ts";

/** What a run may use up. A limit that is reached holds back what would come next; what is under way is finished. */
type Limit = keyof Budget;
type Spent = Required<Budget>;

const ALL: readonly Limit[] = ["turns", "tokens", "costUsd", "wallMs"];
/** A call is not a turn: it belongs to one that has begun, or to none. */
const OF_CALLS: readonly Limit[] = ["tokens", "costUsd", "wallMs"];
/** Sums of prices miss their limit by less than this. */
const ROUNDING = 1e-9;

/** The limits given, or HF-1003 where one makes no sense. */
export function checkBudget(budget: Budget | undefined, option = "budget"): Budget | undefined {
  if (budget === undefined) return undefined;
  if (typeof budget !== "object" || budget === null || Array.isArray(budget))
    throw new HoldfastError("HF-1003", { option, problem: "it must be an object of limits" });
  const limits = Object.entries(budget).filter(([, limit]) => limit !== undefined);
  const refuse = (key: string, problem: string) =>
    new HoldfastError("HF-1003", { option: `${option}.${key}`, problem });
  for (const [key, limit] of limits) {
    if (!ALL.includes(key as Limit)) throw refuse(key, "there is no such limit");
    if (!Number.isFinite(limit) || limit <= 0) throw refuse(key, "it must be a number above 0");
  }
  return limits.length === 0 ? undefined : Object.fromEntries(limits);
}

/** Refuses to let a run go on that would be held back at once, with the limits raised as given (HF-1025). */
export function checkRaise(row: RunRow, raise: Budget | undefined): void {
  const waits = row.waiting.filter(({ kind }) => kind === "budget");
  if (waits.length === 0) return;
  const { turns, usage, activeMs } = row;
  const spent = { turns, tokens: usage.tokens, costUsd: usage.costUsd, wallMs: activeMs };
  // A run that has ended its loops may stand at the last turn: only a loop is held back by that.
  const limits = waits.some(({ detail = "" }) => HELD_BY_TURNS.test(detail)) ? ALL : OF_CALLS;
  const over = reached({ ...row.budget, ...raise }, spent, limits);
  if (over.length > 0) throw new HoldfastError("HF-1025", { run: row.id, limits: over.join(", ") });
}

const HELD_BY_TURNS = /[:,] turns \d/;

/** Whether these limits differ from those the run has. */
export const differs = ({ budget }: RunRow, raise: Budget): boolean =>
  ALL.some((limit) => raise[limit] !== undefined && raise[limit] !== budget?.[limit]);

function reached(budget: Budget | null, spent: Spent, limits: readonly Limit[]): string[] {
  return limits.flatMap((limit) => {
    const most = budget?.[limit];
    const used = spent[limit];
    return most === undefined || used + ROUNDING < most
      ? []
      : [`${limit} ${amount(used)} of ${amount(most)}`];
  });
}

const amount = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 6 });

/** Iterations that have begun and not ended, by the execution they run in. */
const turnsUnderWay = new WeakMap<Execution, number>();

/** What the run has used up, with what is not durable yet and what the calls around `frame` have reported. */
function spentBy(execution: Execution, frame: Frame | undefined): Spent {
  const { row, unwritten } = execution.writer;
  let { usage, turns } = row;
  for (const { event } of unwritten) {
    if (event.kind === "loop_advanced") turns += event.meta.count ?? 1;
    usage = addUsage(usage, usageOf(event) ?? NO_USAGE);
  }
  for (let one = frame; one; one = one.outer) usage = addUsage(usage, one.usage ?? NO_USAGE);
  const now = execution.deps.time.now();
  const sinceLastWrite = Math.max(0, now - (row.activeAt ?? now));
  return {
    turns: turns + (turnsUnderWay.get(execution) ?? 0),
    tokens: usage.tokens,
    costUsd: usage.costUsd,
    wallMs: row.activeMs + sinceLastWrite,
  };
}

function usageOf(event: EventDraft): UsageMeta | undefined {
  if (event.kind === "usage_recorded") return event.meta;
  return event.kind === "step_completed" || event.kind === "step_failed" ? event.meta.usage : undefined;
}

/** Waits until none of these limits is reached. */
async function untilWithin(
  execution: Execution,
  { key, scope: { frame } }: StepPlace,
  limits: readonly Limit[],
): Promise<undefined> {
  for (;;) {
    const over = reached(execution.writer.row.budget, spentBy(execution, frame), limits);
    if (over.length === 0) return undefined;
    const { code, message } = new HoldfastError("HF-2119", { run: execution.runId, limits: over.join(", ") });
    const since = execution.deps.time.now();
    await execution.wait(key, { kind: "budget", step: key, since, detail: `${code} ${message}` }, frame);
  }
}

/** Nothing may start at this place while a limit is reached. Undoing what was done is not limited. */
export function admitWithinBudget(execution: Execution, place: StepPlace): Admitted | Promise<Admitted> {
  const isFree = execution.writer.row.budget === null || place.key.startsWith(`${UNDO}/`);
  return isFree ? undefined : untilWithin(execution, place, OF_CALLS);
}

export const budgetGuard: Guard = {
  admit: ({ execution, place }) => admitWithinBudget(execution, place),
};

/**
 * Before an iteration: waits while a limit is reached, then counts it until the function that is answered is called. One that had
 * begun before a crash is gone on with.
 */
export async function beginTurn(execution: Execution, place: StepPlace, index: number): Promise<() => void> {
  const hasBegun = place.scope.node?.scopes.has(`${place.name}[${index}]`) ?? false;
  if (execution.writer.row.budget !== null && !hasBegun) await untilWithin(execution, place, ALL);
  const add = (more: number) => turnsUnderWay.set(execution, (turnsUnderWay.get(execution) ?? 0) + more);
  add(1);
  return () => add(-1);
}

/** What a child may use up: what is left to the run, and no more than its workflow allows by itself. */
export function budgetLeft(execution: Execution): Budget | undefined {
  const { budget } = execution.writer.row;
  if (budget === null) return undefined;
  const spent = spentBy(execution, execution.scope().frame);
  const left = ALL.flatMap((limit) => {
    const most = budget[limit];
    return most === undefined ? [] : [[limit, Math.max(0, most - spent[limit])] as const];
  });
  return Object.fromEntries(left);
}

/** The smaller of two limits, one by one. */
export function tighter(one: Budget | undefined, other: Budget | undefined): Budget | undefined {
  if (!one || !other) return one ?? other;
  const limits = ALL.flatMap((limit) => {
    const most = Math.min(one[limit] ?? Infinity, other[limit] ?? Infinity);
    return most === Infinity ? [] : [[limit, most] as const];
  });
  return Object.fromEntries(limits);
}
