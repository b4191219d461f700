import { z } from "zod";
import { EFFECT_ROOTS } from "../../core/manage/reports/effects.ts";
import { RUN_STATUSES } from "../../core/types.ts";
import { auditVerification } from "./audit.ts";
import { count, run, time } from "./shapes.ts";
import { effect } from "./shapes-of-plans.ts";

/** Reports for operators and auditors: made from the heads of journals, so they contain no values of runs. */

const status = z.enum(RUN_STATUSES);
const texts = z.array(z.string());
const origin = z.object({ runId: z.string(), seq: count });
const parent = z.object({ runId: z.string(), step: z.string() });
const period = { since: z.number(), until: z.number() };

const problem = z.object({
  seq: count,
  kind: z.enum(["entry", "chain", "blob", "missing", "snapshot", "row", "dropped"]),
  problem: z.string(),
});

export const validation = z
  .object({
    ok: z.boolean(),
    restorable: z.boolean(),
    problems: z.array(problem),
    checkpoints: count,
    lastGood: z.string().nullable(),
  })
  .meta({ id: "Validation" });

export const auditTrail = z
  .object({
    run: z.string(),
    workflow: z.string(),
    version: z.string(),
    status,
    createdAt: time,
    finishedAt: time.nullable(),
    parent: parent.nullable(),
    origin: origin.nullable(),
    head: z
      .string()
      .meta({ description: "The end of the chain; a copy kept elsewhere proves what came before" }),
    verified: z.boolean(),
    problems: z.array(problem),
    actors: z.array(z.object({ actor: z.string(), acts: z.record(z.string(), count) })),
    lines: z.array(
      z.object({
        seq: count,
        at: time,
        kind: z.string(),
        step: z.string(),
        actor: z.string().exactOptional(),
        reason: z.string().exactOptional(),
        entry: z.string().meta({ description: "The hash of the journal entry that holds it" }),
        meta: z.record(z.string(), z.unknown()).meta({ description: "What the head of the event says" }),
      }),
    ),
  })
  .meta({ id: "AuditTrail" });

const lookedAt = {
  looked: count,
  more: z.boolean().meta({ description: "There are more runs than were looked at" }),
  unreadable: texts.meta({ description: "Runs whose journal can't be read" }),
};
const spread = { p50: z.number(), p95: z.number(), most: z.number() };

const endedRuns = z.object({
  completed: count,
  completedAfterRecovery: count,
  failed: count,
  cancelled: count,
  completionRate: z.number().nullable(),
});

export const recoveryReport = z
  .object({
    ...period,
    ...lookedAt,
    incidents: z.array(
      z.object({
        run: z.string(),
        workflow: z.string(),
        at: time,
        seq: count,
        attempt: count,
        lost: z.string().nullable(),
        takenBy: z.string(),
        silentMs: z.number(),
        resumedAfterMs: z.number().nullable(),
        recoveryMs: z.number().nullable(),
        interrupted: z.array(z.object({ step: z.string(), effect })),
        result: z.enum(["went on", "waits", "parked", "died again", "under way"]),
      }),
    ),
    runs: endedRuns,
    ms: z.object(spread).nullable(),
  })
  .meta({ id: "RecoveryReport" });

export const effectReport = z
  .object({
    ...period,
    ...lookedAt,
    begun: z.object({ keyed: count, once: count }),
    unknown: count,
    calledAgain: count,
    violations: count,
    findings: z.array(
      z.object({
        run: z.string(),
        workflow: z.string(),
        step: z.string(),
        effect,
        key: z.string().exactOptional(),
        concern: z.enum([
          "unknown",
          "called again",
          "repeated by a fork",
          "asked for again",
          "carried out twice",
          "other key",
          "after its end",
        ]),
        isViolation: z.boolean(),
        at: time,
        seq: count,
        cause: z.string(),
        root: z.enum(EFFECT_ROOTS),
        settled: z
          .object({
            how: z.enum(["done", "failed", "rerun", "known after all"]),
            at: time,
            actor: z.string().exactOptional(),
            reason: z.string().exactOptional(),
          })
          .exactOptional(),
      }),
    ),
  })
  .meta({ id: "EffectReport" });

const stored = z.object({
  runs: count,
  entries: count,
  headBytes: count,
  valueBytes: count,
  blobs: count,
});

export const capacityReport = z
  .object({
    ...period,
    ...lookedAt,
    total: stored,
    byStatus: z.partialRecord(status, count),
    byWorkflow: z.record(z.string(), stored),
    largest: z.array(z.object({ run: z.string(), workflow: z.string(), bytes: count })),
    days: z.array(
      z.object({
        day: z.string(),
        runs: count,
        entries: count,
        bytes: count,
        expired: count,
        dropped: count,
      }),
    ),
  })
  .meta({ id: "CapacityReport" });

export const storeVerification = z
  .object({
    ok: z.boolean(),
    runs: count,
    damaged: z.array(
      z.object({
        runId: z.string(),
        workflow: z.string(),
        problems: z.array(problem),
        lastGood: z.string().nullable(),
      }),
    ),
    store: texts,
    unchecked: texts,
    audit: auditVerification.nullable(),
  })
  .meta({ id: "StoreVerification" });

export const migrationReport = z
  .object({
    runs: z.array(
      z.object({
        runId: z.string(),
        workflow: z.string(),
        status,
        from: z.string(),
        to: z.string(),
        outcome: z.enum(["current", "migrates", "parks"]),
        hops: texts,
        changes: z.array(
          z.object({ what: z.enum(["memory", "step", "loop", "input", "config"]), name: z.string() }),
        ),
        renamed: z.record(z.string(), z.string()),
        dropped: texts,
        problem: z.string().exactOptional(),
        applied: z.boolean(),
        next: z.enum(["goes on", "waits", "parks", "completes", "fails", "stays"]).exactOptional(),
        at: texts.exactOptional(),
        missing: texts.exactOptional(),
      }),
    ),
    totals: z.object({ current: count, migrates: count, parks: count }),
    more: z.boolean(),
  })
  .meta({ id: "MigrationReport" });

export const importReview = z
  .object({
    runId: z.string(),
    workflow: z.string(),
    version: z.string(),
    pending: z.boolean(),
    imported: z.object({ from: z.string(), bundle: z.string(), at: time }).nullable(),
    config: z.record(z.string(), z.unknown()),
    memory: z.record(z.string(), z.unknown()),
    effects: z.array(z.object({ step: z.string(), effect: z.string(), status: z.string() })),
    answers: z.array(z.object({ gate: z.string(), choice: z.string(), actor: z.string() })),
    digest: z.string(),
  })
  .meta({ id: "ImportReview" });

export const effectAudit = z
  .object({
    run: z.string(),
    workflow: z.string(),
    version: z.string(),
    complete: z.boolean(),
    effects: z.array(
      z.object({
        run: z.string(),
        step: z.string(),
        effect,
        what: z.enum(["happened", "may have happened"]),
        at: time,
        key: z.string().exactOptional(),
      }),
    ),
  })
  .meta({ id: "EffectAudit" });

export const restarted = z.object({ run, audit: effectAudit });

const amounts = { checkpoints: count, entries: count, blobs: count, bytes: count };

export const retentionReport = z
  .object({
    runs: z.array(
      z.object({
        runId: z.string(),
        workflow: z.string(),
        why: z.array(z.enum(["maxAge", "failedMaxAge", "keepLast", "keepPerPhase", "checkpointMaxAge"])),
        ...amounts,
        pruned: z.boolean(),
        deleted: z.literal(true).exactOptional(),
      }),
    ),
    skipped: z.array(
      z.object({
        runId: z.string(),
        workflow: z.string(),
        why: z.enum(["pinned", "keepSuccessful", "in use", "archive failed", "unreadable"]),
        detail: z.string().exactOptional(),
      }),
    ),
    ...amounts,
    complete: z.boolean(),
    withoutEffect: z.array(z.literal("cacheTtl")).exactOptional(),
  })
  .meta({ id: "RetentionReport" });

const storeState = z.object({
  state: z.enum(["ok", "failing", "back"]),
  since: time.nullable(),
  error: z.string().nullable(),
  lastSavedAt: time.nullable(),
});
const writeTimes = z.object({ count, ...spread }).nullable();

const objective = z.object({
  value: z.number().nullable(),
  goal: z.number(),
  alarm: z.number().meta({ description: "Beyond this, it is an alarm" }),
  state: z.enum(["met", "missed", "alarm", "unknown"]),
});

export const reliability = z
  .object({
    ...period,
    ...lookedAt,
    completion: objective.meta({ description: "Completed runs divided by completed and failed ones" }),
    recovery: objective.meta({ description: "The 95th percentile, in milliseconds" }),
    write: objective.meta({
      description: "The 95th percentile of this server's newest writes, in milliseconds",
    }),
    runs: endedRuns,
    recoveries: z.object({ count, ms: z.object(spread).nullable() }),
    writes: writeTimes,
    store: storeState,
  })
  .meta({ id: "Reliability" });

export const health = z
  .object({
    store: storeState,
    writes: writeTimes.meta({ description: "How long this server's newest writes took, in milliseconds" }),
    runs: z.array(
      z.object({ runId: z.string(), notSavedSince: z.object({ seq: count, at: time }), steps: count }),
    ),
    worker: z.object({ running: count, waiting: count }),
  })
  .meta({ id: "Health" });
