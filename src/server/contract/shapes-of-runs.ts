import { z } from "zod";
import { LOG_LEVELS } from "../../core/log-line.ts";
import { COST_GROUPS } from "../../core/manage/reports/cost-report.ts";
import { RUN_STATUSES, WAIT_KINDS } from "../../core/types.ts";
import { budget, count, progress, stepUnderWay, time, used, waiting } from "./shapes.ts";
import { effect, stepType } from "./shapes-of-plans.ts";

/** The parts of runs: steps, events, checkpoints, differences, cost. */

const attempt = z.object({
  attempt: count,
  startedAt: time,
  endedAt: time.exactOptional(),
  outcome: z.enum(["done", "failed", "in doubt"]).exactOptional(),
  seq: count.exactOptional(),
  ms: z.number().exactOptional(),
  usage: used({ model: z.string().exactOptional() }).exactOptional(),
  retryAt: time.exactOptional(),
});

const outlineStep = z.object({
  step: z.string(),
  within: z.string().meta({ description: "The step or loop it belongs to; empty for the run itself" }),
  type: stepType,
  effect,
  state: z.enum(["under way", "done", "failed", "in doubt"]),
  attempts: z.array(attempt),
  key: z.string().optional().meta({ description: "The fingerprint of its idempotency key" }),
  args: z.string().optional(),
  child: z.string().optional(),
  until: time.optional(),
  rerunAfter: time.optional(),
  choice: z.string().optional(),
  actor: z.string().optional(),
  instead: z.enum(["reused", "simulated"]).exactOptional(),
  seq: count,
});

const place = { seq: count, at: time, step: z.string() };

const cost = { tokens: z.number(), costUsd: z.number().nullable(), unpriced: z.number() };
const saved = z.object({ ...cost, steps: count, ms: z.number() });

export const outline = z.object({
  run: z.string(),
  seq: count,
  progress,
  steps: z.array(outlineStep),
  total: count,
  next: count.nullable(),
  since: count.meta({ description: "`steps` has what moved after this position; 0: all steps" }),
  pending: z.array(z.string()),
  loops: z.array(z.object({ loop: z.string(), iteration: count, done: z.boolean() })),
  agents: z.array(z.object({ agent: z.string(), seq: count, at: time })),
  marks: z.array(z.object({ ...place, label: z.string(), trigger: z.string() })),
  decisions: z.array(z.object(place)),
  children: z.array(z.object({ step: z.string(), runId: z.string() })),
  recoveries: count,
  resumes: count,
  saved: saved.meta({
    description: "What would have been spent again if each of these had started from the beginning",
  }),
});

export const eventLine = z.object({
  run: z.string(),
  ...place,
  kind: z.string(),
  actor: z.string().exactOptional(),
  reason: z.string().exactOptional(),
});

export const logLine = z.object({
  at: time,
  level: z.enum(LOG_LEVELS),
  message: z.string(),
  step: z.string().exactOptional(),
  attempt: z.number().exactOptional(),
  fields: z.record(z.string(), z.unknown()).exactOptional(),
});

const account = z.object({
  ...cost,
  wasted: z.object(cost),
  saved,
  runs: count,
  interrupted: count,
  steps: count,
});

export const costReport = z.object({
  by: z.enum(COST_GROUPS),
  total: account,
  groups: z.array(account.extend({ name: z.string() })),
  recovery: z.object({ interrupted: z.number().nullable(), withoutRecovery: z.number().nullable() }),
  more: z.boolean(),
  children: z.object(cost).exactOptional(),
});

export const checkpointItem = z.object({
  id: z.string(),
  ...place,
  kind: z.string(),
  phase: z.string(),
  trigger: z.string(),
  actor: z.string().exactOptional(),
  labels: z.array(z.string()),
  pinned: z.boolean(),
});

const origin = z.object({ runId: z.string(), seq: count });

export const checkpointHead = z.object({
  id: z.string(),
  run: z.string(),
  ...place,
  workflow: z.string(),
  version: z.string(),
  schema: z.number(),
  createdAt: time,
  kind: z.string(),
  trigger: z.string(),
  actor: z.string().exactOptional(),
  status: z.enum(RUN_STATUSES),
  phase: z.string(),
  phaseNumber: count,
  progress,
  current: z.array(stepUnderWay),
  completed: z.array(z.string()),
  failed: z.array(z.string()),
  pending: z.array(z.string()),
  iterations: z.record(z.string(), z.object({ iteration: count, done: z.boolean() })),
  budget: budget.nullable(),
  usage: used({ turns: count, activeMs: z.number() }),
  metrics: z.object({ elapsedMs: z.number(), calls: count }),
  retries: count,
  recoveries: count,
  waits: z.array(waiting),
  labels: z.array(z.string()),
  pinned: z.boolean(),
  lineage: z.string(),
  origin: origin.nullable(),
  parent: z.object({ runId: z.string(), step: z.string() }).nullable(),
  children: z.array(z.string()),
  digest: z.string(),
  head: z.string(),
});

const values = z.record(z.string(), z.unknown());

const stepEnded = z.object({
  step: z.string(),
  type: stepType,
  effect,
  status: z.enum(["completed", "failed", "in_doubt"]),
  at: time,
  ms: z.number(),
  attempts: count,
  key: z.string().exactOptional(),
  args: z.string().exactOptional(),
});

const decision = z.object({
  ...place,
  description: z.string(),
  agent: z.string().exactOptional(),
  type: z.string().exactOptional(),
  rationale: z.string().exactOptional(),
  alternatives: z.array(z.string()).exactOptional(),
  confidence: z.number().exactOptional(),
});

const agentState = z.object({
  type: z.string().exactOptional(),
  status: z.string(),
  confidence: z.number().exactOptional(),
  blockers: z.array(z.string()).exactOptional(),
  state: z.unknown().exactOptional(),
});

const failure = z.object({
  step: z.string(),
  attempt: count.exactOptional(),
  at: time,
  name: z.string(),
  message: z.string(),
  code: z.union([z.string(), z.number()]).exactOptional(),
  details: values.exactOptional(),
});

export const gateHead = z.object({
  runId: z.string(),
  gate: z.string(),
  choices: z.array(z.string()),
  means: z
    .record(z.string(), z.string())
    .meta({ description: "What choices lead to, as far as it is known" }),
  text: z.boolean().meta({ description: "An answer may have a text" }),
  data: z.boolean().meta({ description: "An answer must have data" }),
  fourEyes: z.boolean().meta({ description: "Whoever asked for the run can't answer" }),
  digest: z.string(),
  since: time,
  until: time.nullable(),
});

export const gate = gateHead.extend({ show: z.unknown() });

/** Values are JSON; what JSON can't express uses the journal's encoding, such as `{"$":["Date",0]}`. */
export const checkpointValues = checkpointHead.extend({
  input: z.unknown(),
  config: values,
  memory: values,
  loops: values,
  steps: values,
  history: z.array(stepEnded),
  failure: failure.nullable(),
  decisions: z.array(decision),
  agents: z.record(z.string(), agentState),
  gates: z.array(gate),
  result: z.unknown(),
});

const names = z.array(z.string());

export const diffHead = z.object({
  from: z.string(),
  to: z.string(),
  same: z.boolean(),
  status: z.object({ from: z.enum(RUN_STATUSES), to: z.enum(RUN_STATUSES) }),
  changes: z.array(z.object({ op: z.string(), path: z.string() })),
  steps: z.object({ added: names, removed: names, changed: names }),
  decisions: z.object({ added: count, removed: count }),
  usage: used({ turns: z.number(), activeMs: z.number() }),
  ms: z.number(),
});

/** The values of a difference. */
export const diffValues = {
  state: values.nullable().meta({ description: "In the format of jsondiffpatch" }),
  patch: z.array(
    z.union([
      z.object({ op: z.enum(["add", "replace"]), path: z.string(), value: z.unknown() }),
      z.object({ op: z.literal("remove"), path: z.string() }),
    ]),
  ),
  values: z.object({
    added: values,
    removed: values,
    changed: z.record(z.string(), z.object({ from: z.unknown(), to: z.unknown() })),
  }),
};

export const replay = z.object({
  end: z.enum(["completed", "failed", "stopped"]),
  result: z.unknown().exactOptional(),
  error: z.unknown().exactOptional(),
  steps: z.array(
    z.object({
      step: z.string(),
      from: z.literal("journal"),
      status: z.enum(["completed", "failed"]),
      value: z.unknown(),
    }),
  ),
  stoppedAt: z.array(
    z.union([
      z.object({ step: z.string(), action: z.literal("start"), type: stepType, effect, attempt: count }),
      z.object({
        step: z.string(),
        action: z.literal("wait"),
        for: z.enum(WAIT_KINDS),
        until: time.exactOptional(),
        detail: z.string().exactOptional(),
      }),
    ]),
  ),
  notAsked: names,
});

const preview = z
  .object({
    text: z.string().meta({ description: "The beginning of the value as JSON; all of it if isWhole" }),
    length: count,
    isWhole: z.boolean(),
  })
  .meta({ id: "Preview" });

const previews = z.record(z.string(), preview);

export const statePreview = z.object({
  id: z.string(),
  run: z.string(),
  seq: count,
  input: preview,
  config: previews,
  memory: previews,
  loops: previews,
  steps: previews,
  result: preview.nullable(),
  isCut: z.boolean().meta({ description: "There is more than fits into one answer: ask with a prefix" }),
});

export const conversation = z.object({
  agents: names,
  agent: z.string().nullable(),
  messages: z.array(
    z.object({
      index: count,
      role: z.string(),
      text: z.string(),
      length: count.meta({ description: "Of the whole text" }),
      calls: z.array(z.object({ id: z.string(), tool: z.string(), arguments: z.string() })).exactOptional(),
      tool: z.string().exactOptional(),
      call: z.string().exactOptional(),
      isError: z.boolean().exactOptional(),
      origin: z.string().exactOptional(),
    }),
  ),
  total: count,
  next: count.nullable(),
  turns: count.nullable(),
});

export const stepDetail = outlineStep.extend({
  run: z.string(),
  attempts: z.array(
    attempt.extend({
      error: z
        .object({
          name: z.string(),
          message: z.string().exactOptional(),
          code: z.union([z.string(), z.number()]).exactOptional(),
        })
        .exactOptional(),
      waitMs: z.number().exactOptional(),
      owner: z.string(),
    }),
  ),
  version: z.string().meta({ description: "The version of the workflow that began it" }),
  crash: z.string().meta({ description: "What a crash here would mean" }),
  decisions: z.array(z.object(place)),
});

export const stepValues = z.object({
  run: z.string(),
  step: z.string(),
  given: preview
    .nullable()
    .meta({ description: "What a gate shows; of a call's arguments only a digest is kept" }),
  output: preview.nullable(),
  errors: z.array(z.object({ attempt: count, seq: count, error: preview })),
  decisions: z.array(decision),
  isDropped: z.boolean(),
});

const relative = {
  run: z.string(),
  workflow: z.string(),
  status: z.enum(RUN_STATUSES),
  createdAt: time,
};

export const lineage = z.object({
  run: z.string(),
  forkedFrom: z.array(z.object({ ...relative, seq: count })),
  parents: z.array(z.object({ ...relative, step: z.string() })),
  children: z.array(z.object({ ...relative, step: z.string() })),
  forks: z.array(z.object({ ...relative, seq: count })),
  more: z.boolean(),
});
