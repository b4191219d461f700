import {
  badOption,
  checkKeys,
  checkNumber,
  checkOneOf,
  checkText,
  checkWhole,
  keysOf,
} from "../check-options.ts";
import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import { checkNamed } from "../names.ts";
import { checkBudget } from "../options.ts";
import { type CatchUp, type Moment, OVERLAPS, type ScheduleOptions } from "../schedule-options.ts";
import { dataDigest, encode } from "../values/codec.ts";
import { cronTicks } from "./cron.ts";
import type { ScheduleDefinition } from "./schedule-types.ts";
import { intervalTicks, oneTick, type Ticks, within } from "./ticks.ts";

/** The most characters that a schedule may have with its input. */
const MOST_CHARACTERS = 64 * 1024;

const DAY = 86_400_000;
const YEAR = 366 * DAY;

const OPTIONS = keysOf<ScheduleOptions>({
  cron: true,
  timezone: true,
  everyMs: true,
  at: true,
  input: true,
  overlap: true,
  maxQueued: true,
  catchUp: true,
  jitterMs: true,
  startAt: true,
  endAt: true,
  name: true,
  labels: true,
  queue: true,
  key: true,
  priority: true,
  budget: true,
  config: true,
});

/** The options that decide when it ticks. */
export const TIMING = ["cron", "timezone", "everyMs", "at", "startAt", "endAt"] as const;

export function checkScheduleName(name: unknown): asserts name is string {
  checkNamed("schedule", name);
}

/** Returns the complete definition. Refuses options that aren't valid (HF-1003, HF-5101, HF-5102, HF-5112). */
export function checkSchedule(name: string, workflow: string, options: ScheduleOptions): ScheduleDefinition {
  checkKeys(options, OPTIONS);
  const given = defined(options);
  checkWhen(given);
  const { overlap = "skip", maxQueued = 10, jitterMs = 0, catchUp, at, startAt, endAt, ...rest } = given;
  const definition: ScheduleDefinition = {
    ...rest,
    workflow,
    overlap: checkOneOf("overlap", overlap, OVERLAPS),
    maxQueued: checkWhole("maxQueued", maxQueued, 1, 1_000),
    catchUp: checkCatchUp(catchUp),
    jitterMs: checkWhole("jitterMs", jitterMs, 0, DAY),
    ...defined({ at: moment("at", at), startAt: moment("startAt", startAt), endAt: moment("endAt", endAt) }),
  };
  checkBudget(given.budget);
  const { startAt: first = -Infinity, endAt: last = Infinity } = definition;
  if (last < first) throw badOption("endAt", "it must not be before startAt");
  const ticks = ticksOf(definition, definition.startAt ?? 0);
  checkJitter(definition.jitterMs, ticks);
  const { length: size } = encode(definition);
  if (size > MOST_CHARACTERS)
    throw new HoldfastError("HF-5112", { kind: "schedule", name, size, limit: MOST_CHARACTERS });
  return definition;
}

function checkWhen(given: ScheduleOptions): void {
  const ways = (["cron", "everyMs", "at"] as const).filter((way) => given[way] !== undefined);
  if (ways.length !== 1) throw badOption(ways[1] ?? "cron", "give exactly one of cron, everyMs and at");
  if (given.timezone !== undefined && given.cron === undefined)
    throw badOption("timezone", "it goes with cron only");
  if (given.cron !== undefined) checkText("cron", given.cron, 1);
  if (given.everyMs !== undefined) checkWhole("everyMs", given.everyMs, 1_000, YEAR);
}

function checkCatchUp(given: Partial<CatchUp> = {}): CatchUp {
  checkKeys(given, ["most", "withinMs"], "catchUp");
  const { most = 1, withinMs = DAY } = given;
  return {
    most: checkWhole("catchUp.most", most, 0, 1_000),
    withinMs: checkNumber("catchUp.withinMs", withinMs, { least: 0, most: YEAR }),
  };
}

/** The number of ticks that are looked at to find the shortest time between two. */
const GAPS = 60;

/** Runs of one tick would begin after those of the next. */
function checkJitter(jitterMs: number, ticks: Ticks): void {
  if (jitterMs === 0) return;
  let before = ticks.next(0);
  for (let n = 0; n < GAPS && before !== null; n++) {
    const tick = ticks.next(before);
    if (tick !== null && tick - before < jitterMs)
      throw badOption(
        "jitterMs",
        `it must not be longer than the time between two ticks (${tick - before} ms)`,
      );
    before = tick;
  }
}

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/** A moment as epoch milliseconds. Text must say its time zone, so that it means the same on every machine. */
export function moment(option: string, given: Moment | undefined): number | undefined {
  if (given === undefined) return undefined;
  const isText = typeof given === "string";
  const time = isText ? (ISO.test(given) ? Date.parse(given) : Number.NaN) : Number(given);
  if (Number.isSafeInteger(time) && time >= 0 && time <= 8.64e15) return time;
  throw badOption(option, 'it must be a Date, epoch milliseconds, or text such as "2027-01-31T09:00:00Z"');
}

/** The moments of a schedule. Intervals are counted from `anchor`. */
export function ticksOf(definition: ScheduleDefinition, anchor: number): Ticks {
  const { cron, timezone, everyMs, at, startAt, endAt } = definition;
  if (at !== undefined) return within(oneTick(at), startAt, endAt);
  if (everyMs !== undefined) return within(intervalTicks(everyMs, anchor), startAt, endAt);
  return within(cronTicks(cron ?? "", timezone), startAt, endAt);
}

/** Equal for equal definitions, so that a declaration that hasn't changed is recognised. */
export const definitionDigest = (definition: ScheduleDefinition): string => dataDigest(definition);

/** The names of the options in which two definitions differ. */
export function changedOptions(before: ScheduleDefinition, after: ScheduleDefinition): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const get = (definition: ScheduleDefinition, name: string) =>
    dataDigest(Object.entries(definition).find(([key]) => key === name)?.[1]);
  return [...names].filter((name) => get(before, name) !== get(after, name)).sort();
}
