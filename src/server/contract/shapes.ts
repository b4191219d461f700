import { z } from "zod";
import type { Progress } from "../../core/manage/checkpoints/progress.ts";
import type { Standing, StandingWord, Tone } from "../../core/manage/status/standing.ts";
import type { Possible } from "../../core/manage/status/status.ts";
import { MOST_IN_NAME } from "../../core/names.ts";
import { TAG_LIMITS } from "../../core/tags.ts";
import {
  type Budget,
  type Claim,
  CONTROLS,
  RUN_STATUSES,
  type Run,
  shownUsage,
  WAIT_KINDS,
} from "../../core/types.ts";
import type { Frozen } from "./declare.ts";

/** The shapes that several operations share. What a shape doesn't name never leaves the server. */

/** Milliseconds since 1970, by the store's clock. */
export const time = z.number().int().meta({ description: "Milliseconds since 1970, by the store's clock" });
export const count = z.number().int().min(0);
export const reason = z.string().min(1).max(4_000).meta({ description: "Why. It is recorded." });
export const runId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/)
  .meta({ description: "The id of a run" });
export const workflowName = z.string().min(1).max(MOST_IN_NAME);
/** What a run is called and found by. */
export const runName = z.string().min(1).max(TAG_LIMITS.name);
export const queueName = z.string().min(1).max(TAG_LIMITS.queue);
export const runKey = z.string().min(1).max(TAG_LIMITS.key);
export const step = z.string().min(1).max(1_000).meta({ description: "The key of a step, such as match[3]" });
/** A position, a label, `first`, `last`, or the name of a phase or step. */
export const at = z
  .string()
  .min(1)
  .max(300)
  .meta({ description: "A position, a label, first, last, or the name of a phase or step" });
export const value = z.unknown().meta({ description: "Any JSON" });

/** A page of things in order of their names. */
export const pageQuery = z.strictObject({
  after: z.string().min(1).max(256).exactOptional().meta({ description: "The `next` of the page before" }),
  limit: z.number().int().min(1).max(500).default(200),
});
export const next = z
  .string()
  .nullable()
  .meta({ description: "Where the next page begins; null on the last" });

/** Tokens and money. A cost that nobody knows leaves the server as `null`, never as 0. */
export const used = <S extends z.core.$ZodLooseShape>(more: S) =>
  z
    .object({
      tokens: z.number(),
      costUsd: z.number().nullable(),
      unpriced: z.number().exactOptional(),
      ...more,
    })
    .overwrite((usage) => shownUsage(usage as never) as typeof usage);
export const usage = used({});

export const budget: z.ZodType<Budget, Budget> = z.strictObject({
  turns: z.number().positive().exactOptional(),
  tokens: z.number().positive().exactOptional(),
  costUsd: z.number().positive().exactOptional(),
  wallMs: z.number().positive().exactOptional(),
});

export const waiting = z.object({
  kind: z.enum(WAIT_KINDS),
  step: z.string(),
  since: time,
  until: time.exactOptional(),
  names: z.array(z.string()).exactOptional(),
  detail: z.string().exactOptional(),
  code: z.string().exactOptional(),
  limits: z.array(z.enum(["turns", "tokens", "costUsd", "wallMs"])).exactOptional(),
  child: z.string().exactOptional(),
});

const WORDS = [
  "queued",
  "running",
  "pausing",
  "paused",
  "cancelling",
  "cancelled",
  "completed",
  "failed",
  "failed, resumable",
  "failed, dropped",
  "stalled",
  "waiting",
] as const satisfies readonly StandingWord[];
const TONES = ["good", "bad", "waits", "busy", "calm"] as const satisfies readonly Tone[];
const POSSIBLE = [
  "answer",
  "resolve",
  "signal",
  "resume",
  "raise budget",
  "migrate",
  "pause",
  "cancel",
  "fork",
  "retry",
  "inject",
  "delete",
] as const satisfies readonly Possible[];

export const stall = z.object({
  kind: z.enum(["unclaimed", "abandoned", "quiet", "ahead"]),
  since: time,
  reason: z.string(),
});

const origin = z.object({ runId: z.string(), seq: count });
const parent = z.object({ runId: z.string(), step: z.string() });

/** A run, without what only its worker may know. */
export type ApiRun = Omit<Run, "claim" | "waiting" | "usage"> & {
  readonly usage: { readonly tokens: number; readonly costUsd: number | null; readonly unpriced?: number };
  readonly claim: Omit<Claim, "token">;
  readonly waiting: readonly Frozen<z.output<typeof waiting>>[];
};

export const labels = z.record(z.string().min(1).max(TAG_LIMITS.label), z.string().max(TAG_LIMITS.value));

const runFields = {
  id: z.string(),
  workflow: z.string(),
  name: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  queue: z.string().nullable(),
  key: z.string().nullable(),
  priority: z.number(),
  version: z.string(),
  schema: z.number(),
  status: z.enum(RUN_STATUSES),
  control: z.enum(CONTROLS),
  waiting: z.array(waiting),
  wakeAt: time.nullable(),
  recoveries: count,
  stepsDone: count,
  usage,
  turns: count,
  activeMs: z.number(),
  activeAt: time.nullable(),
  budget: budget.nullable(),
  openChildren: count,
  pinned: z.boolean(),
  prunedAt: time.nullable(),
  error: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
  finishedAt: time.nullable(),
  snapshotSeq: count,
  lineage: z.string(),
  parent: parent.nullable(),
  origin: origin.nullable(),
  seq: count.meta({ description: "Its position: the number of events in its journal" }),
  claim: z.object({ epoch: count, owner: z.string().nullable(), until: time }),
  damage: z.string().exactOptional(),
};
export const run: z.ZodType<ApiRun, ApiRun> = z.object(runFields).meta({ id: "Run" });

export const progress = z.object({
  done: count,
  total: count.exactOptional().meta({ description: "Missing while nobody has said how much there is to do" }),
  percent: z.number().exactOptional(),
  text: z.string(),
});

/** A run, how it stands and how far it is. */
export type ApiRunItem = ApiRun & Omit<Standing, "wait"> & { readonly progress: Progress };

export const standingFields = {
  headline: z.string().meta({ description: "One plain sentence: what the run does, or why it does nothing" }),
  since: time,
  can: z.array(z.enum(POSSIBLE)).meta({ description: "What a person can do about it" }),
  word: z.enum(WORDS),
  tone: z.enum(TONES),
  needsYou: z.boolean(),
  stalled: stall.nullable(),
};

export const runItem: z.ZodType<ApiRunItem, ApiRunItem> = z
  .object({ ...runFields, ...standingFields, progress })
  .meta({ id: "RunItem" });

export const stepUnderWay = z.object({
  step: z.string(),
  type: z.enum(["call", "gate", "timer", "signal", "child", "transaction"]),
  status: z.enum(["started", "in_doubt", "failed"]),
  attempt: count,
  since: time,
  until: time.exactOptional(),
});
