import { z } from "zod";
import { declare } from "./declare.ts";
import { count, time, workflowName } from "./shapes.ts";
import { scheduleOptions } from "./shapes-of-flow.ts";
import { eventLine } from "./shapes-of-runs.ts";

const period = {
  since: z.number().int().min(0).exactOptional(),
  until: z.number().int().min(0).exactOptional(),
  workflow: workflowName.exactOptional(),
  runs: z.number().int().min(1).max(2_000).exactOptional().meta({
    description: "At most this many runs are looked at, the newest; `more` says whether there are others",
  }),
};

const tallies = z.record(z.string(), count);

/** Looks over many runs, and into the future of a schedule. They change nothing. */
export const lookOperations = {
  previewSchedule: declare("previewSchedule", {
    summary: "The ticks that a schedule with these options would have. Stores nothing.",
    permission: "runs:read",
    verb: { library: "engine.schedules.preview", cli: "schedules create --dry-run" },
    body: z.strictObject({
      options: scheduleOptions,
      count: z.number().int().min(1).max(50).default(5),
    }),
    answer: z.object({ next: z.array(time) }),
  }),
  reportSteps: declare("reportSteps", {
    summary: "How often each step was called and failed, the one that fails most first.",
    permission: "runs:read",
    verb: { library: "engine.reports.steps", cli: "report steps" },
    query: z.strictObject(period),
    answer: z.object({
      since: z.number(),
      until: z.number(),
      steps: z.array(
        z.object({
          workflow: z.string(),
          step: z.string(),
          steps: count,
          attempts: count,
          failedAttempts: count,
          failed: count,
          inDoubt: count,
          attemptsP50: z.number(),
          attemptsP95: z.number(),
        }),
      ),
      runs: count,
      more: z.boolean(),
    }),
  }),
  listActs: declare("listActs", {
    summary: "What people and programs from outside did to runs, when and why, newest first.",
    permission: "audit:read",
    verb: { library: "engine.reports.acts", cli: "report acts" },
    query: z.strictObject({
      ...period,
      actor: z.string().min(1).max(200).exactOptional(),
      kind: z.string().min(1).max(64).exactOptional().meta({ description: "Such as pause_requested" }),
      limit: z.number().int().min(1).max(500).default(200),
    }),
    answer: z.object({
      acts: z.array(
        eventLine.extend({ actor: z.string(), workflow: z.string(), what: z.string().exactOptional() }),
      ),
      actors: tallies,
      kinds: tallies,
      runs: count,
      more: z.boolean(),
    }),
  }),
};
