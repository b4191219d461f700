import { HoldfastError } from "../errors.ts";
import type { EventDraft, UsageMeta } from "../journal/events.ts";
import { addSpent, type Spent, savedSpent, spentAbove, usageOf } from "../journal/spent.ts";
import { about, reasonOf } from "../journal/wait-reason.ts";
import { isUndo, memberName } from "../keys.ts";
import type { Store } from "../store/contract.ts";
import {
  ALL_LIMITS,
  addUsage,
  type Budget,
  type Limit,
  NO_USAGE,
  type RunRow,
  type Waiting,
} from "../types.ts";
import { Families, type FamilyTotal } from "./families.ts";
import type { Admitted, Guard } from "./guard.ts";
import { tighter } from "./left.ts";
import type { GuardedFrame, GuardedPlace, GuardedRun } from "./port.ts";

/**
 * The limits of a run and the runs below it. A reached limit holds back whatever would come next, in every run of the
 * family; calls in progress are finished.
 */

/** A call isn't a turn: it belongs to one that has begun, or to none. */
const OF_CALLS: readonly Limit[] = ["tokens", "costUsd", "wallMs"];
/** The rounding error that sums of prices may have. */
const ROUNDING = 1e-9;

/**
 * Refuses a resume after which the run or its children would be held back at once, given the raised limits (HF-1025).
 */
export async function checkRaise(families: Families, row: RunRow, raise: Budget | undefined): Promise<void> {
  const own = row.waiting.some(({ kind }) => kind === "budget");
  if (!own && row.openChildren === 0) return;
  const total = await families.total(row.id);
  const held = [row, ...(total?.below ?? [])].flatMap(({ waiting }) =>
    waiting.filter(({ kind }) => kind === "budget"),
  );
  if (!total || held.length === 0) return;
  // A run that has ended its loops may be at the last turn, which only holds back a loop.
  const limits = held.some((wait) => reasonOf(wait).limits?.includes("turns")) ? ALL_LIMITS : OF_CALLS;
  const over = reached({ ...row.budget, ...raise }, total.spent, limits).map(said);
  if (own) over.push(...(await overAbove(families, row, limits)));
  if (over.length > 0) throw new HoldfastError("HF-1025", { run: row.id, limits: over.join(", ") });
}

async function overAbove(families: Families, row: RunRow, limits: readonly Limit[]): Promise<string[]> {
  const above = (await families.above(row)).filter(({ budget }) => budget !== null);
  const totals = await totalsOf(families, above);
  return totals.flatMap((total) =>
    reached(total.row.budget, total.spent, limits).map((one) => `${said(one)} of run ${total.row.id}`),
  );
}

/** True when these limits differ from the run's own. */
export const differs = ({ budget }: RunRow, raise: Budget): boolean =>
  ALL_LIMITS.some((limit) => raise[limit] !== undefined && raise[limit] !== budget?.[limit]);

/** A limit that is reached. */
interface Reached {
  readonly limit: Limit;
  readonly used: number;
  readonly most: number;
}

function reached(budget: Budget | null, spent: Spent, limits: readonly Limit[]): Reached[] {
  return limits.flatMap((limit) => {
    const most = budget?.[limit];
    const used = spent[limit];
    return most === undefined || used + ROUNDING < most ? [] : [{ limit, used, most }];
  });
}

const said = ({ limit, used, most }: Reached): string => `${limit} ${amount(used)} of ${amount(most)}`;

const amount = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 6 });

/** The run's usage, including what isn't durable yet and what the calls around `frame` have reported. */
function spentBy(execution: GuardedRun, frame: GuardedFrame | undefined): Spent {
  const { row, unwritten } = execution.writer;
  let { usage, turns } = row;
  for (const { event } of unwritten) {
    if (event.kind === "loop_advanced") turns += event.meta.count ?? 1;
    usage = addUsage(usage, ownUsage(event) ?? NO_USAGE);
  }
  for (let one = frame; one; one = one.outer) usage = addUsage(usage, one.usage ?? NO_USAGE);
  const now = execution.deps.time.now();
  const sinceLastWrite = Math.max(0, now - (row.activeAt ?? now));
  return {
    turns: turns + execution.budgetNotes.turnsUnderWay,
    tokens: usage.tokens,
    costUsd: usage.costUsd,
    wallMs: row.activeMs + sinceLastWrite,
  };
}

/** A child's part is counted with the family, until its report is written. */
const ownUsage = (event: EventDraft): UsageMeta | undefined =>
  event.kind === "child_finished" ? undefined : usageOf(event);

/** A run with reached limits, and those limits. */
interface Over {
  readonly run: string;
  readonly limits: readonly Reached[];
}

/** The reached limits here or above. Synchronous for a run without relatives. */
function overNow(
  execution: GuardedRun,
  frame: GuardedFrame | undefined,
  limits: readonly Limit[],
): Over[] | Promise<Over[]> {
  const { row } = execution.writer;
  const own = reached(row.budget, spentBy(execution, frame), limits);
  if (own.length > 0) return [{ run: row.id, limits: own }];
  return row.parent === null && row.openChildren === 0 ? [] : overInFamily(execution, frame, limits);
}

/** How often to repeat readings that miss what others in the same run did in the meantime. */
const MOST_READINGS = 5;

async function overInFamily(
  execution: GuardedRun,
  frame: GuardedFrame | undefined,
  limits: readonly Limit[],
): Promise<Over[]> {
  const { writer, deps } = execution;
  const families = Families.of(deps.store);
  for (let reading = 1; ; reading++) {
    const { heard } = writer;
    const limited = await readFor(execution, () => limitedRuns(families, writer.row));
    if (limited.length === 0) {
      execution.budgetNotes.freeSince = heard;
      return [];
    }
    // Relatives only see what is saved, so save before reading them.
    if (writer.unwritten.some(({ event }) => ownUsage(event)) && !deps.queue.options.ahead)
      await execution.busy(writer.whenIdle());
    const { seq } = writer.row;
    const totals = await readFor(execution, () => totalsOf(families, limited));
    const unsaved = spentAbove(spentBy(execution, frame), savedSpent(writer.row));
    const over = totals.flatMap(({ row, spent }) => {
      const found = reached(row.budget, addSpent(spent, unsaved), limits);
      return found.length > 0 ? [{ run: row.id, limits: found }] : [];
    });
    // A raise in the meantime is recorded in this run's journal, so it doesn't wait for a limit that is gone.
    const isCurrent = writer.row.seq === seq;
    if (isCurrent || (over.length === 0 && reading >= MOST_READINGS)) return over;
  }
}

/** A run that may continue without its store can't know about the others then. */
function readFor<T>(execution: GuardedRun, read: () => Promise<readonly T[]>): Promise<readonly T[]> {
  const { queue } = execution.deps;
  if (!queue.options.ahead) return execution.busy(queue.read(execution.runId, read));
  return queue.health.failing ? Promise.resolve([]) : execution.busy(read().catch(() => []));
}

/** The run and those above it that have limits. */
const limitedRuns = async (families: Families, row: RunRow): Promise<readonly RunRow[]> =>
  [row, ...(await families.above(row))].filter(({ budget }) => budget !== null);

async function totalsOf(families: Families, runs: readonly RunRow[]): Promise<readonly FamilyTotal[]> {
  const totals = await Promise.all(runs.map(({ id }) => families.total(id)));
  return totals.filter((total) => total !== null);
}

/** Waits until none of these limits is reached; returns whether it had to wait. */
async function untilWithin(
  execution: GuardedRun,
  { key, scope: { frame } }: GuardedPlace,
  limits: readonly Limit[],
): Promise<boolean> {
  for (let waited = false; ; waited = true) {
    const now = overNow(execution, frame, limits);
    const over = now instanceof Promise ? await now : now;
    if (over.length === 0) return waited;
    const since = execution.deps.time.now();
    await execution.wait(key, { kind: "budget", step: key, since, ...becauseOf(over) }, frame);
  }
}

function becauseOf(over: readonly Over[]): Omit<Waiting, "kind" | "step" | "since"> {
  const told = over.map(({ run, limits }) =>
    about(new HoldfastError("HF-2119", { run, limits: limits.map(said).join(", ") })),
  );
  const found = new Set(over.flatMap(({ limits }) => limits.map(({ limit }) => limit)));
  return {
    code: "HF-2119",
    limits: ALL_LIMITS.filter((limit) => found.has(limit)),
    detail: told.map(({ detail }) => detail).join(" "),
  };
}

/** True when this run can't reach any limit. */
function isUnlimited(execution: GuardedRun): boolean {
  const { row, heard } = execution.writer;
  return row.budget === null && (row.parent === null || execution.budgetNotes.freeSince === heard);
}

/** Nothing may start at this place while a limit is reached. Undoing work isn't limited. */
export function waitedForBudget(execution: GuardedRun, place: GuardedPlace): boolean | Promise<boolean> {
  const isFree = isUnlimited(execution) || isUndo(place.key);
  return isFree ? false : untilWithin(execution, place, OF_CALLS);
}

export const budgetGuard: Guard = {
  admit({ execution, place }): Admitted | Promise<Admitted> {
    const waited = waitedForBudget(execution, place);
    return waited instanceof Promise ? waited.then(() => undefined) : undefined;
  },
};

/**
 * Called before an iteration: waits while a limit is reached, then counts the iteration until the returned function is
 * called. An iteration that began before a crash continues.
 */
export async function beginTurn(
  execution: GuardedRun,
  place: GuardedPlace,
  index: number,
): Promise<() => void> {
  const hasBegun = place.scope.node?.scopes.has(memberName(place.name, index)) ?? false;
  if (!isUnlimited(execution) && !hasBegun) await untilWithin(execution, place, ALL_LIMITS);
  const { budgetNotes } = execution;
  budgetNotes.turnsUnderWay++;
  return () => void budgetNotes.turnsUnderWay--;
}

/** The limits that apply to a run: its own, and those of the runs above. */
export async function limitsOf(store: Store, row: RunRow): Promise<Budget | undefined> {
  const above = await Families.of(store).above(row);
  return [row, ...above].map(({ budget }) => budget ?? undefined).reduce(tighter);
}
