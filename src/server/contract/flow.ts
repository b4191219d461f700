import { z } from "zod";
import { declare } from "./declare.ts";
import { next, pageQuery, reason, runId, runItem, time, workflowName } from "./shapes.ts";
import {
  rateLimit as limit,
  rateLimitOptions,
  schedule,
  scheduleChanges,
  scheduleOptions,
} from "./shapes-of-flow.ts";

const manage = { permission: "flow:manage" } as const;
const why = { reason: reason.exactOptional() };
const version = z
  .string()
  .max(64)
  .exactOptional()
  .meta({ description: "The version that you have seen; refused if the schedule was changed since" });

export const flowOperations = {
  listSchedules: declare("listSchedules", {
    summary: "All schedules, with their last and next ticks.",
    permission: "runs:read",
    verb: { library: "engine.schedules.list", cli: "schedules list" },
    query: pageQuery,
    answer: z.object({ schedules: z.array(schedule), next }),
  }),
  getSchedule: declare("getSchedule", {
    summary: "One schedule with its next five ticks.",
    permission: "runs:read",
    verb: { library: "engine.schedules.get", cli: "schedules show" },
    answer: z.object({ schedule, next: z.array(time) }),
  }),
  createSchedule: declare("createSchedule", {
    summary: "Starts runs of a workflow at set times.",
    ...manage,
    verb: { library: "engine.schedules.create", cli: "schedules create" },
    body: z.strictObject({
      ...why,
      name: z.string().min(1).max(100),
      workflow: workflowName,
      options: scheduleOptions,
    }),
    answer: schedule,
  }),
  updateSchedule: declare("updateSchedule", {
    summary: "Changes options of a schedule; an option that is null is removed.",
    ...manage,
    verb: { library: "engine.schedules.update", cli: "schedules update" },
    body: z.strictObject({ ...why, version, changes: scheduleChanges }),
    answer: schedule,
  }),
  deleteSchedule: declare("deleteSchedule", {
    summary: "Removes a schedule. Its runs stay.",
    ...manage,
    verb: { library: "engine.schedules.delete", cli: "schedules delete" },
    query: z.strictObject({ ...why, version }),
    answer: z.object({ deleted: z.string() }),
  }),
  pauseSchedule: declare("pauseSchedule", {
    summary: "Stops the ticks of a schedule. Runs that it has started continue.",
    ...manage,
    verb: { library: "engine.schedules.pause", cli: "schedules pause" },
    body: z.strictObject({ ...why, version }),
    answer: schedule,
  }),
  resumeSchedule: declare("resumeSchedule", {
    summary: "Lets a schedule tick again.",
    ...manage,
    verb: { library: "engine.schedules.resume", cli: "schedules resume" },
    body: z.strictObject({ ...why, version }),
    answer: schedule,
  }),
  triggerSchedule: declare("triggerSchedule", {
    summary: "Starts a run of a schedule now.",
    ...manage,
    verb: { library: "engine.schedules.trigger", cli: "schedules trigger" },
    body: z.strictObject({ ...why, id: runId.exactOptional(), input: z.unknown().exactOptional() }),
    answer: runItem,
  }),
  backfillSchedule: declare("backfillSchedule", {
    summary:
      "Starts the runs of all ticks in a range that have none yet. With `dryRun` it only says which those are.",
    ...manage,
    verb: { library: "engine.schedules.backfill", cli: "schedules backfill" },
    body: z.strictObject({ ...why, from: time, to: time, dryRun: z.boolean().exactOptional() }),
    answer: z.object({ started: z.array(z.string()), existing: z.array(z.string()) }),
  }),
  listRateLimits: declare("listRateLimits", {
    summary: "All rate limits, and what is used of them now.",
    permission: "runs:read",
    verb: { library: "engine.rateLimits.list", cli: "rate-limits list" },
    query: pageQuery,
    answer: z.object({ limits: z.array(limit), next }),
  }),
  setRateLimit: declare("setRateLimit", {
    summary: "Defines a rate limit, or changes it.",
    ...manage,
    verb: { library: "engine.rateLimits.set", cli: "rate-limits set" },
    body: z.strictObject({
      ...why,
      limit: rateLimitOptions,
    }),
    answer: limit,
  }),
  deleteRateLimit: declare("deleteRateLimit", {
    summary: "Removes a rate limit.",
    ...manage,
    verb: { library: "engine.rateLimits.delete", cli: "rate-limits delete" },
    query: z.strictObject(why),
    answer: z.object({ deleted: z.string() }),
  }),
  holdRateLimit: declare("holdRateLimit", {
    summary: "Grants nothing for a while, to any run in any process; 0 ends that.",
    ...manage,
    verb: { library: "engine.rateLimits.hold", cli: "rate-limits hold" },
    body: z.strictObject({ ...why, ms: z.number().int().min(0).max(86_400_000) }),
    answer: limit,
  }),
};
