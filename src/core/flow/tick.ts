import { readRun } from "../journal/door.ts";
import { ended } from "../types.ts";
import type { FlowDeps } from "./flow-deps.ts";
import type { Held, Kept } from "./kept.ts";
import { isAhead, ticked, tickRunId, ticksOfRecord } from "./schedule-record.ts";
import type { ScheduleRecord } from "./schedule-types.ts";
import { type Due, dueTicks, jitterOf } from "./ticks.ts";

/** How many runs are written down at once: after a crash, those that exist are asked for again. */
const MOST_AT_ONCE = 5;

/** When to look at a schedule again, and after the end of which run. */
export interface Minded {
  readonly nextAt: number | null;
  readonly awaits: string | null;
}

/** What is written down comes first. */
const NOT_YET: Due = { ticks: [], missed: undefined, nextAt: null };

const NOTHING: Minded = { nextAt: null, awaits: null };

/** How many writes one pass over a schedule may take. */
const MOST_WRITES = 2_000;

/**
 * Does what is due for a schedule, and returns when to look again.
 *
 * What a tick does is written down first (`starting`), and taken off once the run exists. Whoever finds it written down
 * creates the run, so a crash in between loses nothing; and the run's id is derived from the tick, so nothing is
 * created twice. A write replaces the version it was decided on, so of two processes one decides.
 */
export async function minds(
  deps: FlowDeps,
  kept: Kept<ScheduleRecord>,
  schedule: Held<ScheduleRecord>,
  now: number,
): Promise<Minded> {
  let held: Held<ScheduleRecord> = schedule;
  for (let writes = 0; writes < MOST_WRITES; writes++) {
    const { value: record } = held;
    // Only its code can start its runs. Another process may have it.
    if (!deps.workflows.has(record.definition.workflow)) return NOTHING;
    const due = record.starting.length > 0 ? NOT_YET : dueNow(held, now);
    const next = due === NOT_YET ? await startAll(deps, held) : await decide(deps, held, due, now);
    if (next === undefined)
      return {
        nextAt: record.paused ? null : due.nextAt,
        awaits: record.queued.length > 0 ? record.lastRun : null,
      };
    const written = await kept.replace(held.key, held.version, next);
    // Somebody else was faster: goes on from there.
    const current = written ?? (await kept.read(held.key));
    if (!current) return NOTHING;
    held = current;
  }
  return { nextAt: now, awaits: null };
}

/** Creates the runs that are written down, unless they exist; returns the record without them. */
async function startAll(
  deps: FlowDeps,
  { key, value: record }: Held<ScheduleRecord>,
): Promise<ScheduleRecord | undefined> {
  const { definition, cancels } = record;
  const flow = deps.workflows.get(definition.workflow);
  if (!flow) return undefined;
  if (cancels !== null) await deps.cancel(cancels, `The next tick of schedule ${key} is due.`);
  let next: ScheduleRecord = { ...record, starting: [], cancels: null };
  for (const tick of record.starting) {
    const why = await deps.start(flow, tickRunId(key, tick), key, definition, tick);
    if (why !== undefined) next = { ...ticked(next, { tick, outcome: "refused", why }), from: record.from };
  }
  return next;
}

function dueNow({ key, value }: Held<ScheduleRecord>, now: number): Due {
  const { jitterMs, catchUp } = value.definition;
  const jitter = (tick: number) => jitterOf(key, tick, jitterMs);
  return dueTicks(ticksOfRecord(value), value.from, now, catchUp, jitter);
}

/** The record after the next thing that is due; `undefined` when nothing is. */
async function decide(
  deps: FlowDeps,
  held: Held<ScheduleRecord>,
  { ticks, missed }: Due,
  now: number,
): Promise<ScheduleRecord | undefined> {
  const { key, value: record } = held;
  const { overlap } = record.definition;
  if (record.paused) return undefined;
  if (isAhead(record, now)) return { ...record, from: now };
  if (missed) return ticked(record, { tick: missed.from, to: missed.to, outcome: "missed" });
  const [tick] = ticks;
  const [queued] = record.queued;
  if (tick === undefined && queued === undefined) return undefined;
  const isGoingOn = overlap !== "allow" && (await isOpen(deps, record.lastRun));
  if (queued !== undefined && !isGoingOn) {
    const started = starting(record, key, [queued]);
    return { ...started, queued: record.queued.slice(1) };
  }
  if (tick === undefined) return undefined;
  // The clock was ahead for a while, and this tick was acted on then.
  if (tick <= (record.high ?? -1) && (await readRun(deps.store, tickRunId(key, tick))))
    return { ...record, from: tick };
  return takeTick(record, key, ticks, isGoingOn);
}

function takeTick(
  record: ScheduleRecord,
  key: string,
  ticks: readonly number[],
  isGoingOn: boolean,
): ScheduleRecord {
  const { overlap, maxQueued } = record.definition;
  const [tick = 0] = ticks;
  if (overlap === "allow") {
    // Ticks that were acted on before are looked at one by one.
    return starting(record, key, tick > (record.high ?? -1) ? ticks.slice(0, MOST_AT_ONCE) : [tick]);
  }
  if (!isGoingOn && record.queued.length === 0) return starting(record, key, [tick]);
  if (overlap === "cancel") return { ...starting(record, key, [tick]), cancels: record.lastRun };
  if (overlap === "skip") return ticked(record, { tick, outcome: "skipped" });
  if (record.queued.length >= maxQueued) return ticked(record, { tick, outcome: "dropped" });
  return { ...ticked(record, { tick, outcome: "queued" }), queued: [...record.queued, tick] };
}

/** With these ticks written down, to be started. */
function starting(record: ScheduleRecord, key: string, ticks: readonly number[]): ScheduleRecord {
  const done = ticks.reduce<ScheduleRecord>(
    (after, tick) => ({
      ...ticked(after, { tick, outcome: "started", runId: tickRunId(key, tick) }),
      // A tick that waited is older than those that were acted on since.
      from: Math.max(after.from, tick),
    }),
    record,
  );
  const lastRun = tickRunId(key, ticks.at(-1) ?? 0);
  return { ...done, starting: [...record.starting, ...ticks], lastRun, cancels: null };
}

/** True when a run exists and hasn't ended. */
async function isOpen({ store }: FlowDeps, runId: string | null): Promise<boolean> {
  const row = runId === null ? null : await readRun(store, runId);
  return row !== null && !ended(row.status);
}
