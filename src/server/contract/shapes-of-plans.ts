import { z } from "zod";
import type { ResumePlan, Treatment } from "../../core/manage/plan/plan-types.ts";
import type { Edits } from "../../core/types.ts";
import { RUN_STATUSES, WAIT_KINDS } from "../../core/types.ts";
import { budget, count, time, value } from "./shapes.ts";

/** What resumes and forks take, and what is predicted for them. */

const record = z.record(z.string().min(1).max(1_000), z.unknown());

export const edits: z.ZodType<Edits, Edits> = z.strictObject({
  memory: record.exactOptional(),
  steps: record.exactOptional(),
  loops: z.record(z.string().min(1).max(1_000), z.record(z.string(), z.unknown())).exactOptional(),
  input: value.exactOptional(),
  config: record.exactOptional(),
});

/** What a resume may bring along. */
export const resumeFields = {
  set: edits.exactOptional(),
  inject: value.exactOptional(),
  budget: budget.exactOptional(),
  retryFailed: z.boolean().exactOptional(),
  now: z.boolean().exactOptional(),
};

export const effects = z.enum(["reuse", "block", "simulate", "allow"]);
export const effect = z.enum(["repeatable", "keyed", "once"]);
export const stepType = z.enum(["call", "gate", "timer", "signal", "child", "transaction"]);

const TREATMENTS = [
  "called again with the same key",
  "called again",
  "asked of a person",
  "verify hook asked first",
  "verify hook asked first, or a person",
  "outcome already decided",
] as const satisfies readonly Treatment[];

const foreseen = z.enum(["reused", "asked", "simulated", "called again"]);

const policyVerdict = z.union([
  z.literal("allow"),
  z.object({ deny: z.string() }),
  z.object({ ask: z.string(), timeoutMs: z.number().exactOptional(), fourEyes: z.boolean().exactOptional() }),
]);

const planFields = {
  runId: z.string(),
  status: z.enum(RUN_STATUSES),
  code: z.boolean().meta({ description: "Whether the workflow's code is known to this server" }),
  worker: z.object({ owner: z.string(), until: time }).nullable(),
  reuse: z.object({ steps: count, ms: z.number(), tokens: z.number(), costUsd: z.number().nullable() }),
  inDoubt: z.array(z.object({ step: z.string(), effect, attempt: count, treatment: z.enum(TREATMENTS) })),
  runs: z.array(
    z.object({
      step: z.string(),
      type: stepType,
      effect,
      attempt: count,
      at: time.exactOptional(),
      instead: foreseen.exactOptional(),
    }),
  ),
  waits: z.array(z.object({ step: z.string(), for: z.enum(WAIT_KINDS), until: time.exactOptional() })),
  view: z.object({
    end: z.enum(["completes", "fails", "is cancelled", "open", "does not move"]),
    after: z.array(z.string()),
    announced: z.array(z.string()),
  }),
  changed: z.object({
    version: z.object({ from: z.string(), to: z.string() }).nullable(),
    schema: z.object({ from: z.number(), to: z.number() }).nullable(),
    notAsked: z.array(z.string()),
    new: z.array(z.string()),
  }),
  policy: z.array(z.object({ step: z.string(), verdict: policyVerdict })),
  approvals: z.array(
    z.object({
      step: z.string(),
      gate: z.string(),
      state: z.enum(["needed", "open", "void", "given", "refused"]),
    }),
  ),
  content: z.object({
    checked: count,
    held: z.array(
      z.object({
        source: z.enum(["step", "loop", "memory", "signal", "input", "edit"]),
        name: z.string(),
        verdict: z.union([z.object({ quarantine: z.string() }), z.object({ park: z.string() })]),
      }),
    ),
  }),
  budget: budget.nullable(),
  blocked: z.string().nullable(),
};

const plan: z.ZodType<ResumePlan, ResumePlan> = z
  .object({
    ...planFields,
    get children() {
      return z.array(plan).meta({ description: "The plans of the children in progress" });
    },
  })
  .meta({ id: "ResumePlan" });

export const resumePlan = z.object({
  plan,
  estimate: z
    .object({ ms: z.number(), costUsd: z.number().nullable(), runs: count })
    .nullable()
    .meta({ description: "What is left to do, by the median of the newest completed runs of the workflow" }),
  seq: count.meta({ description: "The position of the run that the plan is for" }),
  token: z
    .string()
    .meta({ description: "Send it with the resume: it then does what was planned, or is refused" }),
});

export const forkPreview = z.object({
  from: z.object({ runId: z.string(), seq: count }),
  effects,
  calls: z.array(
    z.object({
      runId: z.string(),
      step: z.string(),
      effect,
      status: z.enum(["started", "completed", "failed", "in_doubt"]),
      attempts: count,
      args: z.string().nullable(),
      at: time,
      becomes: foreseen,
    }),
  ),
  children: z.array(z.object({ step: z.string(), runId: z.string(), seq: count, kept: z.boolean() })),
  edits: z.array(z.object({ what: z.string(), name: z.string() })),
});
