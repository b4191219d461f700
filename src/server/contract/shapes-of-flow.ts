import { z } from "zod";
import { TICK_OUTCOMES } from "../../core/flow/schedule-types.ts";
import { OVERLAPS } from "../../core/schedule-options.ts";
import { budget, count, queueName, runKey, runName, time } from "./shapes.ts";

/** Schedules and rate limits, as people see them. */

const texts = z.record(z.string(), z.string());
const paused = z
  .object({ at: time, actor: z.string().exactOptional(), reason: z.string().exactOptional() })
  .nullable();

const moment = z.union([z.number(), z.string().max(100)]).meta({ description: "A time, or a date as text" });

/** What a schedule is made of. The engine checks what fits together. */
const optionFields = {
  cron: z.string().max(200).exactOptional(),
  timezone: z.string().max(100).exactOptional(),
  everyMs: z.number().exactOptional(),
  at: moment.exactOptional(),
  input: z.unknown().exactOptional(),
  overlap: z.enum(OVERLAPS).exactOptional(),
  maxQueued: z.number().exactOptional(),
  catchUp: z
    .strictObject({ most: z.number().exactOptional(), withinMs: z.number().exactOptional() })
    .exactOptional(),
  jitterMs: z.number().exactOptional(),
  startAt: moment.exactOptional(),
  endAt: moment.exactOptional(),
  name: runName.exactOptional(),
  labels: texts.exactOptional(),
  queue: queueName.exactOptional(),
  key: runKey.exactOptional(),
  priority: z.number().exactOptional(),
  budget: budget.exactOptional(),
  config: z.record(z.string(), z.unknown()).exactOptional(),
};

export const scheduleOptions = z.strictObject(optionFields).meta({ id: "ScheduleOptions" });

/** `null` removes an option. */
export const scheduleChanges = z
  .strictObject(nullable(optionFields))
  .meta({ id: "ScheduleChanges", description: "An option that is null is removed" });

type Nullable<F> = {
  [K in keyof F]: F[K] extends z.ZodExactOptional<infer S extends z.ZodType>
    ? z.ZodExactOptional<z.ZodNullable<S>>
    : never;
};

function nullable<F extends Readonly<Record<string, z.ZodExactOptional<z.ZodType>>>>(fields: F): Nullable<F> {
  const entries = Object.entries(fields).map(([name, field]) => [
    name,
    field.unwrap().nullable().exactOptional(),
  ]);
  return Object.fromEntries(entries) as Nullable<F>;
}

export const rateLimitOptions = z.strictObject({
  calls: z.number().exactOptional(),
  tokens: z.number().exactOptional(),
  periodMs: z.number().exactOptional(),
});

const definition = z.object({
  workflow: z.string(),
  cron: z.string().exactOptional(),
  timezone: z.string().exactOptional(),
  everyMs: z.number().exactOptional(),
  at: time.exactOptional(),
  input: z.unknown().exactOptional(),
  overlap: z.enum(OVERLAPS),
  maxQueued: count,
  catchUp: z.object({ most: count, withinMs: z.number() }),
  jitterMs: z.number(),
  startAt: time.exactOptional(),
  endAt: time.exactOptional(),
  name: z.string().exactOptional(),
  labels: texts.exactOptional(),
  queue: z.string().exactOptional(),
  key: z.string().exactOptional(),
  priority: z.number().exactOptional(),
  budget: budget.exactOptional(),
  config: z.record(z.string(), z.unknown()).exactOptional(),
});

export const schedule = z
  .object({
    name: z.string(),
    version: z.string(),
    definition,
    status: z.enum(["active", "paused", "ended"]),
    createdAt: time,
    paused,
    queued: z.array(time),
    lastRun: z.string().nullable(),
    lastTick: time.nullable(),
    nextTick: time.nullable(),
    isDeclared: z.boolean(),
    ticks: z.array(
      z.object({
        tick: time,
        outcome: z.enum(TICK_OUTCOMES),
        runId: z.string().exactOptional(),
        to: time.exactOptional(),
        why: z.string().exactOptional(),
      }),
    ),
    counts: z.record(z.enum(TICK_OUTCOMES), count),
    history: z.array(
      z.object({
        at: time,
        act: z.enum(["create", "declare", "update", "pause", "resume", "trigger", "backfill"]),
        actor: z.string().exactOptional(),
        reason: z.string().exactOptional(),
        changed: z.array(z.string()).exactOptional(),
      }),
    ),
  })
  .meta({ id: "Schedule" });

export const rateLimit = z
  .object({
    name: z.string(),
    version: z.string(),
    calls: z.number().exactOptional(),
    tokens: z.number().exactOptional(),
    periodMs: z.number(),
    used: z.object({ calls: z.number(), tokens: z.number() }),
    waiting: count,
    heldUntil: time.nullable(),
    heldWhy: z.string().nullable(),
    isDeclared: z.boolean(),
  })
  .meta({ id: "RateLimit" });
