import { isRecord } from "../check-options.ts";
import { defined } from "../defined.ts";
import { childId } from "../ids.ts";
import type { Act } from "../journal/act.ts";
import { changedOptions, TIMING, ticksOf } from "./check-schedule.ts";
import type { Held } from "./kept.ts";
import type {
  Schedule,
  ScheduleDefinition,
  ScheduleEdit,
  ScheduleRecord,
  TickDone,
} from "./schedule-types.ts";
import { ON_TIME_MS, type Ticks } from "./ticks.ts";

/** How many of its ticks and edits a schedule remembers. */
const MOST_TICKS = 20;
const MOST_EDITS = 50;

/** A new schedule: its first tick is the first one after `now`. */
export const newRecord = (
  definition: ScheduleDefinition,
  now: number,
  edit: ScheduleEdit,
): ScheduleRecord => ({
  definition,
  createdAt: now,
  anchor: anchorOf(definition, now),
  from: now,
  high: null,
  paused: null,
  starting: [],
  cancels: null,
  queued: [],
  lastRun: null,
  ticks: [],
  counts: { started: 0, skipped: 0, queued: 0, dropped: 0, missed: 0, refused: 0 },
  history: [edit],
});

/** The first tick of an interval: given, or one interval from now. */
const anchorOf = ({ startAt, everyMs }: ScheduleDefinition, now: number): number =>
  startAt ?? now + (everyMs ?? 0);

/** With another definition. A change of its times counts from now on: nothing is made up for. */
export function redefined(
  record: ScheduleRecord,
  definition: ScheduleDefinition,
  now: number,
  edit: ScheduleEdit,
): ScheduleRecord {
  const changed = changedOptions(record.definition, definition);
  const isRetimed = changed.some((name) => TIMING.some((one) => one === name));
  const isReanchored = changed.includes("everyMs") || changed.includes("startAt");
  return edited(
    {
      ...record,
      definition,
      ...(isRetimed ? { from: now } : {}),
      ...(isReanchored ? { anchor: anchorOf(definition, now) } : {}),
    },
    { ...edit, changed },
  );
}

export const edited = (record: ScheduleRecord, edit: ScheduleEdit): ScheduleRecord => ({
  ...record,
  history: [...record.history, edit].slice(-MOST_EDITS),
});

export const editOf = (act: ScheduleEdit["act"], at: number, { actor, reason }: Act): ScheduleEdit => ({
  at,
  act,
  ...defined({ actor, reason }),
});

/** With what became of a tick; it is done with. */
export const ticked = (record: ScheduleRecord, done: TickDone): ScheduleRecord => ({
  ...record,
  from: done.to ?? done.tick,
  high: Math.max(record.high ?? 0, done.to ?? done.tick),
  ticks: [...record.ticks, done].slice(-MOST_TICKS),
  counts: { ...record.counts, [done.outcome]: record.counts[done.outcome] + 1 },
});

/** The moments of a stored schedule. */
export const ticksOfRecord = ({ definition, anchor }: ScheduleRecord): Ticks => ticksOf(definition, anchor);

/**
 * True when ticks seem to be done that are still to come: the store's clock was far ahead for a while. They are looked
 * at again. Their runs have the same ids, so none is started twice.
 */
export const isAhead = ({ from }: ScheduleRecord, now: number): boolean => from - now > ON_TIME_MS;

/** The id of a tick's run: readable, and the same whoever creates it. */
export function tickRunId(schedule: string, tick: number): string {
  const slug =
    schedule
      .replace(/[^A-Za-z0-9]+/g, "-")
      .replace(/^-+/, "")
      .slice(0, 32) || "schedule";
  const at = new Date(tick)
    .toISOString()
    .replace(/[-:]|\.\d+/g, "")
    .replace(/^\+/, "");
  return `${slug}-${at}-${childId(`schedule ${schedule}`, String(tick)).slice(0, 10)}`;
}

/** A schedule as people see it. */
export function viewOf({ key, version, value }: Held<ScheduleRecord>, now: number): Schedule {
  const { from: _, high: lastTick, anchor: __, starting: ___, cancels: ____, declared, ...record } = value;
  const next = ticksOfRecord(value).next(isAhead(value, now) ? now : value.from);
  const hasMore = next !== null || value.starting.length > 0 || value.queued.length > 0;
  return {
    ...record,
    name: key,
    version,
    status: value.paused ? "paused" : hasMore ? "active" : "ended",
    lastTick,
    nextTick: value.paused ? null : next,
    isDeclared: declared !== undefined,
  };
}

/** Tells a schedule from anything else that the store may hold in its place. */
export function isScheduleRecord(value: unknown): value is ScheduleRecord {
  if (!isRecord(value)) return false;
  const { definition, from, anchor, counts, ...lists }: Partial<Record<keyof ScheduleRecord, unknown>> =
    value;
  return (
    isRecord(definition) &&
    isRecord(counts) &&
    typeof from === "number" &&
    typeof anchor === "number" &&
    [lists.starting, lists.queued, lists.ticks, lists.history].every(Array.isArray)
  );
}
