import { z } from "zod";
import { SLO_NAMES } from "../../core/manage/slo/targets.ts";
import { declare } from "./declare.ts";
import { count, reason, time } from "./shapes.ts";

const severity = z.enum(["P1", "P2"]);
const figure = z.number().nullable();
const setBy = z.object({ by: z.string().nullable(), at: time }).nullable();
const target = { goal: figure, alarm: figure, severity, set: setBy };
const why = { reason };

const objective = z.object({
  name: z.enum(SLO_NAMES),
  unit: z.enum(["ms", "share", "count", "usd"]),
  better: z.enum(["less", "more"]),
  windowMs: z.number(),
  value: figure,
  measured: count,
  ...target,
  state: z.enum(["met", "missed", "alarm", "unknown", "watched"]),
  budgetLeft: figure,
});

/** What operators are called by, and what they set. */
export const operateOperations = {
  getSlo: declare("getSlo", {
    summary: "Service levels, measured over all processes of the store, beside their targets.",
    permission: "runs:read",
    verb: { library: "engine.slo.report", cli: "slo" },
    answer: z.object({
      at: time,
      objectives: z.array(objective),
      ok: z.boolean(),
      runs: z.object({
        completed: count,
        failed: count,
        completedAfterRecovery: count,
        looked: count,
        more: z.boolean(),
        recoveries: count,
        unrecovered: count,
        costAfterRecovery: figure,
      }),
      writeFailures: z.object({ count, runs: z.record(z.string(), count) }),
      probes: z.object({ count, failed: count, failedAt: time.nullable() }),
    }),
  }),
  setSloTarget: declare("setSloTarget", {
    summary: "Changes the target of a service level. Parts that aren't given stay as they are.",
    permission: "admin",
    verb: { library: "engine.slo.setTarget", cli: "slo" },
    body: z.strictObject({
      ...why,
      goal: figure.exactOptional(),
      alarm: figure.exactOptional(),
      severity: severity.exactOptional(),
      reset: z.literal(true).exactOptional().meta({ description: "Back to the built-in target" }),
    }),
    answer: z.object(target),
  }),
};
