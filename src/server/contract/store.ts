import { z } from "zod";
import type { RetentionPreset } from "../../core/manage/retention/policy.ts";
import { declare } from "./declare.ts";
import { count, next, pageQuery, reason, runId, time, workflowName } from "./shapes.ts";
import {
  auditTrail,
  capacityReport,
  effectAudit,
  effectReport,
  health,
  importReview,
  migrationReport,
  recoveryReport,
  reliability,
  retentionReport,
  storeVerification,
} from "./shapes-of-reports.ts";
import { eventLine, gateHead } from "./shapes-of-runs.ts";

const read = { permission: "runs:read" } as const;
const audit = { permission: "audit:read" } as const;

const period = z.strictObject({
  since: z.number().int().min(0).exactOptional(),
  until: z.number().int().min(0).exactOptional(),
  workflow: workflowName.exactOptional(),
});

/** Reports read journals, so the number of runs is limited. */
const bounded = period.extend({
  runs: z.number().int().min(1).max(20_000).default(2_000).meta({
    description: "At most this many runs are looked at, the newest; `more` says whether there are others",
  }),
});

const preset = z.enum([
  "default",
  "seed0",
  "dag",
  "conductor",
  "agentic",
  "forever",
]) satisfies z.ZodType<RetentionPreset>;
const age = z
  .union([z.number().min(0), z.string().regex(/^\d+(\.\d+)?(ms|s|m|h|d|w)$/)])
  .meta({ description: "Milliseconds, or a text such as 7d" });
const ruleFields = {
  preset: preset.exactOptional(),
  maxAge: age.exactOptional(),
  failedMaxAge: age.exactOptional(),
  onExpiry: z.enum(["keep-record", "delete"]).exactOptional(),
  tombstone: z.boolean().exactOptional(),
  keepLast: z.number().exactOptional(),
  keepPer: z.enum(["run", "workflow"]).exactOptional(),
  checkpointMaxAge: age.exactOptional(),
  keepPerPhase: z.number().exactOptional(),
  keepSuccessful: z.union([z.boolean(), z.number()]).exactOptional(),
  archiveRecords: z.boolean().exactOptional(),
  archiveTimeout: age.exactOptional(),
  cacheTtl: age.exactOptional(),
};
const policy = z
  .union([
    preset,
    z.strictObject({
      ...ruleFields,
      workflows: z.record(z.string(), z.union([preset, z.strictObject(ruleFields)])).exactOptional(),
    }),
  ])
  .meta({ id: "RetentionPolicy", description: "The name of a preset, or rules" });

const view = z.object({
  name: z.string(),
  query: z.string().meta({ description: "The query of GET /v1/runs" }),
  by: z.string(),
  at: time,
});

const name = z.string().min(1).max(64).meta({ description: "The name of the view" });

export const storeOperations = {
  listGates: declare("listGates", {
    summary: "The open gates of all runs, without what they show: those of the newest run first.",
    ...read,
    about: "list",
    verb: { library: "engine.reports.gates", cli: "gate list" },
    query: z.strictObject({
      limit: z.number().int().min(1).max(200).default(20),
      cursor: z.string().min(1).max(200).exactOptional(),
    }),
    answer: z.object({
      cursor: z.string().nullable(),
      gates: z.array(gateHead),
    }),
  }),
  listErrors: declare("listErrors", {
    summary: "Failed runs in groups of the same workflow and the same kind of error, newest first.",
    ...read,
    verb: { library: "engine.reports.errors", cli: "list --status failed" },
    query: period.extend({ limit: z.number().int().min(1).max(10_000).default(1_000) }),
    answer: z.object({
      groups: z.array(
        z.object({
          id: z.string(),
          workflow: z.string(),
          steps: z.array(z.string()),
          code: z.string().nullable(),
          shape: z.string(),
          message: z.string(),
          count,
          overTime: z.array(count),
          first: time,
          newest: time,
          examples: z.array(z.string()),
        }),
      ),
      runs: count,
      more: z.boolean(),
      from: time,
      to: time,
    }),
  }),
  explainError: declare("explainError", {
    summary: "What an error code means, what is safe and how to fix it.",
    ...read,
    about: "list",
    verb: { library: "explainError", cli: "explain" },
    answer: z.object({
      code: z.string(),
      what: z.string(),
      why: z.string(),
      safe: z.string(),
      fix: z.string(),
    }),
  }),
  listWorkflows: declare("listWorkflows", {
    summary: "The workflows that this server has code for: their runs can be started and planned here.",
    ...read,
    about: "list",
    verb: { library: "engine.workflows", cli: "none: a file is named instead" },
    answer: z.object({
      workflows: z.array(z.object({ name: z.string(), version: z.string(), schema: z.number() })),
    }),
  }),
  getTrail: declare("getTrail", {
    summary: "Everything that happened in a run, who did it and why, and whether the record is intact.",
    ...audit,
    verb: { library: "engine.reports.trail", cli: "report trail" },
    answer: auditTrail,
  }),
  reportRecoveries: declare("reportRecoveries", {
    summary: "Every takeover from a lost worker: its duration, the interrupted steps, and the result.",
    ...audit,
    verb: { library: "engine.reports.recoveries", cli: "report recoveries" },
    query: bounded,
    answer: recoveryReport,
  }),
  reportReliability: declare("reportReliability", {
    summary: "How many runs complete, how fast recoveries and writes are, each beside its goal.",
    ...read,
    verb: { library: "reliabilityOf", cli: "report reliability" },
    query: bounded,
    answer: reliability,
  }),
  reportEffects: declare("reportEffects", {
    summary: "Calls with effects that weren't clearly made once, with the cause and the resolution.",
    ...audit,
    verb: { library: "engine.reports.effects", cli: "report effects" },
    query: bounded,
    answer: effectReport,
  }),
  reportCapacity: declare("reportCapacity", {
    summary: "The content of the store, its growth, and what retention removes.",
    ...audit,
    verb: { library: "engine.reports.capacity", cli: "report capacity" },
    query: bounded,
    answer: capacityReport,
  }),
  verifyStore: declare("verifyStore", {
    summary: "Checks every run's row, chain, values and blobs, newest first, up to a limit.",
    ...audit,
    verb: { library: "engine.reports.verify", cli: "verify" },
    body: z.strictObject({ limit: z.number().int().min(1).max(10_000).exactOptional() }),
    answer: storeVerification,
  }),
  checkMigrations: declare("checkMigrations", {
    summary: "What the code of this server means for stored runs of other versions. Changes nothing.",
    ...read,
    verb: { library: "engine.migrations.check", cli: "migrate --plan" },
    query: z.strictObject({ workflow: workflowName.exactOptional() }),
    answer: migrationReport,
  }),
  reviewImport: declare("reviewImport", {
    summary: "What an imported run would execute, with its values. The reading is recorded, with the reason.",
    permission: "admin",
    verb: { library: "engine.transfer.review", cli: "accept" },
    query: z.strictObject({ reason }),
    answer: importReview,
  }),
  auditRestart: declare("auditRestart", {
    summary: "What could happen twice if the run were started again from the beginning.",
    ...read,
    verb: { library: "engine.restarts.audit", cli: "resume --fresh" },
    answer: effectAudit,
  }),
  previewRetention: declare("previewRetention", {
    summary: "What a retention policy would drop now. Changes nothing.",
    ...read,
    verb: { library: "engine.retention.preview", cli: "checkpoints prune --dry-run" },
    body: z.strictObject({
      policy,
      workflow: workflowName.exactOptional(),
      run: runId.exactOptional(),
    }),
    answer: retentionReport,
  }),
  pruneValues: declare("pruneValues", {
    summary: "Drops the values that a policy does not keep. The record of what happened stays.",
    permission: "admin",
    verb: { library: "engine.retention.prune", cli: "checkpoints prune" },
    body: z.strictObject({
      reason,
      policy,
      workflow: workflowName.exactOptional(),
      run: runId.exactOptional(),
    }),
    answer: retentionReport,
  }),
  listViews: declare("listViews", {
    summary: "The saved views of the list of runs, in order of their names.",
    ...read,
    verb: { library: "engine.views.list", cli: "list --view" },
    query: pageQuery,
    answer: z.object({ views: z.array(view), next }),
  }),
  putView: declare("putView", {
    summary: "Saves a view of the list of runs under a name. One of somebody else stays as it is.",
    permission: "runs:act",
    verb: { library: "engine.views.save", cli: "list --save-view" },
    body: z.strictObject({ query: z.string().max(2_000) }),
    answer: view,
  }),
  deleteView: declare("deleteView", {
    summary: "Deletes a saved view of the caller's own; an admin may delete any.",
    permission: "runs:act",
    verb: { library: "engine.views.delete", cli: "none: views are deleted where they are shown" },
    answer: z.object({ deleted: name }),
  }),
  streamEvents: declare("streamEvents", {
    summary:
      "What happens in runs, as it happens (server-sent events); `Last-Event-ID` continues where a stream broke off.",
    ...read,
    about: "list",
    verb: { library: "engine.events", cli: "logs --follow" },
    query: z.strictObject({
      run: z.array(runId).max(100).exactOptional().meta({ description: "Only these runs. Default: all" }),
      after: z.number().int().min(0).exactOptional().meta({
        description: "For named runs: begin after this position. Default: what happens from now on",
      }),
    }),
    answer: eventLine,
    media: { answer: "text/event-stream" },
  }),
  getHealth: declare("getHealth", {
    summary: "The state of this server's store, its unsaved runs, and its worker.",
    ...read,
    about: "list",
    verb: { library: "engine.health", cli: "doctor" },
    answer: health,
  }),
  getStore: declare("getStore", {
    summary: "The store: its kind, what it can do, and its clock.",
    ...read,
    about: "list",
    verb: { library: "store.capabilities", cli: "doctor" },
    answer: z.object({
      kind: z.string(),
      capabilities: z.object({
        durability: z.enum(["power-loss", "process", "none"]),
        transactions: z.union([z.literal(false), z.enum(["sync", "async"])]),
        records: z.array(z.string()).exactOptional(),
        limits: z.boolean().exactOptional(),
      }),
      now: time,
    }),
  }),
};
