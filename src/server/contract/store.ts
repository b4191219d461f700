import { z } from "zod";
import { declare } from "./declare.ts";
import { count, reason, runId, time } from "./shapes.ts";
import { eventLine } from "./shapes-of-runs.ts";

const read = { permission: "runs:read" } as const;
const audit = { permission: "audit:read" } as const;
const described = (type: string) =>
  z.unknown().meta({ description: `The library's type ${type} describes it` });

const period = z.strictObject({
  since: z.number().int().min(0).exactOptional(),
  until: z.number().int().min(0).exactOptional(),
  workflow: z.string().min(1).max(200).exactOptional(),
});

const policy = z
  .union([z.string().max(100), z.record(z.string(), z.unknown())])
  .meta({ description: "The name of a preset, or rules; the library's type RetentionPolicy describes them" });

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
      gates: z.array(
        z.object({
          runId: z.string(),
          gate: z.string(),
          choices: z.array(z.string()),
          text: z.boolean(),
          digest: z.string(),
          since: time,
          until: time.nullable(),
        }),
      ),
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
          first: time,
          newest: time,
          examples: z.array(z.string()),
        }),
      ),
      runs: count,
      more: z.boolean(),
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
    answer: described("AuditTrail"),
  }),
  reportRecoveries: declare("reportRecoveries", {
    summary: "Every takeover from a lost worker: its duration, the interrupted steps, and the result.",
    ...audit,
    verb: { library: "engine.reports.recoveries", cli: "report recoveries" },
    query: period,
    answer: described("RecoveryReport"),
  }),
  reportEffects: declare("reportEffects", {
    summary: "Calls with effects that weren't clearly made once, with the cause and the resolution.",
    ...audit,
    verb: { library: "engine.reports.effects", cli: "report effects" },
    query: period,
    answer: described("EffectReport"),
  }),
  reportCapacity: declare("reportCapacity", {
    summary: "The content of the store, its growth, and what retention removes.",
    ...audit,
    verb: { library: "engine.reports.capacity", cli: "report capacity" },
    query: period,
    answer: described("CapacityReport"),
  }),
  verifyStore: declare("verifyStore", {
    summary: "Checks every run's row, chain, values and blobs, newest first, up to a limit.",
    ...audit,
    verb: { library: "engine.reports.verify", cli: "verify" },
    body: z.strictObject({ limit: z.number().int().min(1).max(10_000).exactOptional() }),
    answer: described("StoreVerification"),
  }),
  checkMigrations: declare("checkMigrations", {
    summary: "What the code of this server means for stored runs of other versions. Changes nothing.",
    ...read,
    verb: { library: "engine.migrations.check", cli: "migrate --check" },
    query: z.strictObject({ workflow: z.string().min(1).max(200).exactOptional() }),
    answer: described("MigrationReport"),
  }),
  reviewImport: declare("reviewImport", {
    summary: "What an imported run would execute, with its values. The reading is recorded, with the reason.",
    permission: "admin",
    verb: { library: "engine.transfer.review", cli: "accept" },
    query: z.strictObject({ reason }),
    answer: described("ImportReview"),
  }),
  auditRestart: declare("auditRestart", {
    summary: "What could happen twice if the run were started again from the beginning.",
    ...read,
    verb: { library: "engine.restarts.audit", cli: "resume --fresh" },
    answer: described("EffectAudit"),
  }),
  previewRetention: declare("previewRetention", {
    summary: "What a retention policy would drop now. Changes nothing.",
    ...read,
    verb: { library: "engine.retention.preview", cli: "checkpoints drop --dry-run" },
    body: z.strictObject({
      policy,
      workflow: z.string().min(1).max(200).exactOptional(),
      run: runId.exactOptional(),
    }),
    answer: described("RetentionReport"),
  }),
  pruneValues: declare("pruneValues", {
    summary: "Drops the values that a policy does not keep. The record of what happened stays.",
    permission: "admin",
    verb: { library: "engine.retention.prune", cli: "checkpoints drop" },
    body: z.strictObject({
      reason,
      policy,
      workflow: z.string().min(1).max(200).exactOptional(),
      run: runId.exactOptional(),
    }),
    answer: described("RetentionReport"),
  }),
  listViews: declare("listViews", {
    summary: "The saved views of the list of runs.",
    ...read,
    verb: { library: "none: views belong to the dashboard", cli: "none: views belong to the dashboard" },
    answer: z.object({ views: z.array(view) }),
  }),
  putView: declare("putView", {
    summary: "Saves a view of the list of runs under a name.",
    permission: "runs:act",
    verb: { library: "none: views belong to the dashboard", cli: "none: views belong to the dashboard" },
    body: z.strictObject({ query: z.string().max(2_000) }),
    answer: view,
  }),
  deleteView: declare("deleteView", {
    summary: "Deletes a saved view.",
    permission: "runs:act",
    verb: { library: "none: views belong to the dashboard", cli: "none: views belong to the dashboard" },
    answer: z.object({ deleted: name }),
  }),
  streamEvents: declare("streamEvents", {
    summary:
      "What happens in runs, as it happens (server-sent events); `Last-Event-ID` goes on where a stream broke off.",
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
    answer: z.object({
      store: z.unknown(),
      runs: z.array(
        z.object({ runId: z.string(), notSavedSince: z.object({ seq: count, at: time }), steps: count }),
      ),
      worker: z.object({ running: count, waiting: count }),
    }),
  }),
  getStore: declare("getStore", {
    summary: "The store: its kind, what it can do, and its clock.",
    ...read,
    about: "list",
    verb: { library: "store.capabilities", cli: "doctor" },
    answer: z.object({ kind: z.string(), capabilities: z.record(z.string(), z.unknown()), now: time }),
  }),
};
