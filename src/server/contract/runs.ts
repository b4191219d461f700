import { z } from "zod";
import { RUN_STATUSES } from "../../core/types.ts";
import { declare } from "./declare.ts";
import { reason, run, runId, runItem, stall, standingFields, stepUnderWay } from "./shapes.ts";

export const runOperations = {
  listRuns: declare("listRuns", {
    summary: "Runs, newest first, one page at a time. Every given filter must match.",
    permission: "runs:read",
    about: "list",
    verb: { library: "engine.list", cli: "list" },
    query: z.strictObject({
      status: z.array(z.enum(RUN_STATUSES)).exactOptional(),
      workflow: z.string().min(1).max(200).exactOptional(),
      parent: runId.exactOptional(),
      pruned: z.boolean().exactOptional(),
      limit: z.number().int().min(1).max(200).default(50),
      cursor: z.string().min(1).max(200).exactOptional(),
    }),
    answer: z.object({ runs: z.array(runItem), cursor: z.string().nullable() }),
  }),
  getRun: declare("getRun", {
    summary: "One run: what it does or waits for, in one sentence, and what can be done about it.",
    permission: "runs:read",
    verb: { library: "engine.status", cli: "show" },
    answer: z.object({
      run,
      ...standingFields,
      open: z.array(stepUnderWay),
      stalled: stall.nullable(),
      notSavedSince: z.number().nullable(),
    }),
  }),
  pauseRun: declare("pauseRun", {
    summary: "Stops the run at its next step boundary. No new step starts after the answer.",
    permission: "runs:act",
    verb: { library: "engine.pause", cli: "pause" },
    body: z.strictObject({ reason: reason.exactOptional(), children: z.boolean().exactOptional() }),
    answer: runItem,
  }),
};
