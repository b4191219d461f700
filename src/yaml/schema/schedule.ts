import { z } from "zod";
import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import { checkSchedule } from "../../core/flow/check-schedule.ts";
import type { ScheduleOptions } from "../../core/schedule-options.ts";
import { waitMs } from "../duration.ts";
import { span } from "./fields.ts";

const fields = z.strictObject({
  cron: z.string().nullish(),
  timezone: z.string().nullish(),
  every: span.nullish(),
  at: z.string().nullish(),
  start: z.string().nullish(),
  end: z.string().nullish(),
  overlap: z.enum(["skip", "queue", "cancel", "allow"]).nullish(),
  max_queued: z.int().min(1).max(1_000).nullish(),
  catch_up: z.strictObject({ most: z.int().min(0).max(1_000).nullish(), within: span.nullish() }).nullish(),
  jitter: span.nullish(),
  input: z.record(z.string(), z.unknown()).default({}),
});

/** When runs of the file start by themselves. The engine's own rules check it, so both say the same. */
export const schedule = fields.superRefine((given, issues) => {
  try {
    checkSchedule("schedule", "workflow", scheduleOptions(given));
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    const detail = error.code === "HF-1003" ? error.message : `${error.message} ${error.why}`;
    issues.addIssue({ code: "custom", message: detail });
  }
});

/** The engine's options for what a file says. */
export function scheduleOptions(given: z.infer<typeof fields>): ScheduleOptions {
  const { cron, timezone, every, at, start, end, overlap, max_queued, catch_up, jitter, input } = given;
  const ms = (text: string | number | null | undefined) =>
    text === null || text === undefined ? undefined : waitMs(text);
  const catchUp = catch_up
    ? defined({ most: catch_up.most ?? undefined, withinMs: ms(catch_up.within) })
    : undefined;
  return defined({
    cron: cron ?? undefined,
    timezone: timezone ?? undefined,
    everyMs: ms(every),
    at: at ?? undefined,
    startAt: start ?? undefined,
    endAt: end ?? undefined,
    overlap: overlap ?? undefined,
    maxQueued: max_queued ?? undefined,
    catchUp,
    jitterMs: ms(jitter),
    input,
  });
}
