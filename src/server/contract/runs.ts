import { z } from "zod";
import { LOG_LEVELS } from "../../core/log-line.ts";
import { COST_GROUPS } from "../../core/manage/reports/cost-report.ts";
import { NEED_KINDS } from "../../core/manage/status/needs-you.ts";
import { RUN_STATUSES } from "../../core/types.ts";
import { declare } from "./declare.ts";
import {
  at,
  count,
  progress,
  queueName,
  reason,
  run,
  runId,
  runItem,
  runKey,
  runName,
  stall,
  standingFields,
  step,
  stepUnderWay,
  time,
  workflowName,
} from "./shapes.ts";
import { validation } from "./shapes-of-reports.ts";
import {
  checkpointHead,
  checkpointItem,
  checkpointValues,
  conversation,
  costReport,
  diffHead,
  diffValues,
  eventLine,
  gate,
  lineage,
  logLine,
  outline,
  replay,
  statePreview,
  stepDetail,
  stepValues,
} from "./shapes-of-runs.ts";

const read = { permission: "runs:read" } as const;
const label = z.string().regex(/^[^=]{1,64}=.{0,256}$/s);

/** The filters that an index answers. */
const runFilters = {
  status: z.array(z.enum(RUN_STATUSES)).exactOptional(),
  workflow: workflowName.exactOptional(),
  parent: runId.exactOptional(),
  name: runName.exactOptional(),
  label: z.array(label).exactOptional().meta({ description: "name=value; all of them must be there" }),
  queue: queueName.exactOptional(),
  key: runKey.exactOptional(),
  createdAfter: time.min(0).exactOptional(),
  createdBefore: time.min(0).exactOptional(),
  pruned: z.boolean().exactOptional(),
};

const limit = z.number().int().min(1).max(200).default(50);

export const runOperations = {
  listRuns: declare("listRuns", {
    summary: "Runs, newest first, one page at a time. Every given filter must match.",
    ...read,
    about: "list",
    verb: { library: "engine.list", cli: "list" },
    query: z.strictObject({
      ...runFilters,
      text: z.string().min(1).max(200).exactOptional().meta({
        description:
          "In the name, workflow, key, a label or the error, or how the id begins; a page may have few runs and a cursor",
      }),
      errorGroup: z.string().min(1).max(200).exactOptional().meta({
        description: "Only failed runs of this group; its id is from GET /v1/errors",
      }),
      notStatus: z.array(z.enum(RUN_STATUSES)).exactOptional(),
      notWorkflow: z.array(workflowName).max(50).exactOptional(),
      notQueue: z.array(queueName).max(50).exactOptional(),
      notLabel: z.array(label).max(50).exactOptional().meta({ description: "name=value; none of them" }),
      pinned: z.boolean().exactOptional().meta({ description: "Only runs whose values are kept for good" }),
      needsYou: z.boolean().exactOptional().meta({ description: "Only runs that need a person" }),
      limit,
      cursor: z.string().min(1).max(200).exactOptional(),
    }),
    answer: z.object({ runs: z.array(runItem), cursor: z.string().nullable() }),
  }),
  countRuns: declare("countRuns", {
    summary: "How many runs match, by status and by workflow.",
    ...read,
    about: "list",
    verb: { library: "engine.reports.counts", cli: "list" },
    query: z.strictObject(runFilters),
    answer: z.object({
      total: count,
      byStatus: z.record(z.enum(RUN_STATUSES), count),
      byWorkflow: z.record(z.string(), count),
      each: z.array(z.object({ workflow: z.string(), status: z.enum(RUN_STATUSES), count })),
      more: z.boolean().meta({ description: "There are more runs than were looked at" }),
    }),
  }),
  getProgress: declare("getProgress", {
    summary: "How far runs are, as their plans say: n of m. For the rows of a list that are in sight.",
    ...read,
    about: "list",
    verb: { library: "engine.reports.progress", cli: "list" },
    query: z.strictObject({ run: z.array(runId).min(1).max(100) }),
    answer: z.object({
      runs: z.array(progress.extend({ run: z.string(), seq: count })),
    }),
  }),
  needsYou: declare("needsYou", {
    summary: "The runs that don't continue unless a person does something, the costliest wait first.",
    ...read,
    about: "list",
    verb: { library: "engine.reports.needsYou", cli: "list --needs-me" },
    query: z.strictObject({
      from: z.number().int().min(0).default(0),
      limit: z.number().int().min(1).max(100).default(50),
    }),
    answer: z.object({
      needs: z.array(
        z.object({
          kind: z.enum(NEED_KINDS),
          run: runItem.meta({
            description: "`headline`, `since` and `can` say what is wrong, since when and what to do",
          }),
          until: time.nullable().meta({ description: "When a gate closes by itself" }),
          errorGroup: z
            .string()
            .nullable()
            .meta({ description: "Failed runs with the same one failed alike" }),
        }),
      ),
      counts: z.record(z.enum(NEED_KINDS), count),
      total: count,
      next: count.nullable(),
      more: z.boolean().meta({ description: "There are more runs than were looked at" }),
    }),
  }),
  getRun: declare("getRun", {
    summary: "One run: what it does or waits for, in one sentence, and what can be done about it.",
    ...read,
    verb: { library: "engine.status", cli: "show" },
    answer: z.object({
      run,
      ...standingFields,
      open: z.array(stepUnderWay),
      stalled: stall.nullable(),
      notSavedSince: z.number().nullable(),
    }),
  }),
  getOutline: declare("getOutline", {
    summary: "What the run has done, does and is expected to do, step by step, without values.",
    ...read,
    verb: { library: "engine.reports.outline", cli: "show --attempts" },
    query: z.strictObject({
      from: z.number().int().min(0).default(0),
      limit: z.number().int().min(1).max(2_000).default(200),
      since: z.number().int().min(0).exactOptional().meta({
        description: "Only steps that moved after this position, for whoever has seen the others",
      }),
    }),
    answer: outline,
  }),
  getStep: declare("getStep", {
    summary: "One step: its attempts, its effect class and what a crash there would mean, without values.",
    ...read,
    verb: { library: "engine.reports.step", cli: "show <run>:<step>" },
    query: z.strictObject({ step }),
    answer: stepDetail,
  }),
  readStep: declare("readStep", {
    summary: "The values of a step, each cut to its beginning. The reading is recorded, with the reason.",
    permission: "state:read",
    verb: { library: "engine.reports.stepValues", cli: "show <run>:<step> --reveal" },
    body: z.strictObject({ step, reason }),
    answer: stepValues,
  }),
  getLineage: declare("getLineage", {
    summary: "Where the run comes from and what came of it: forks, parents and children.",
    ...read,
    verb: { library: "engine.reports.lineage", cli: "show --lineage" },
    answer: lineage,
  }),
  listEvents: declare("listEvents", {
    summary: "What happened in the run, oldest first, one page at a time, without values.",
    ...read,
    verb: { library: "engine.reports.events", cli: "logs" },
    query: z.strictObject({
      after: z.number().int().min(0).default(0),
      limit: z.number().int().min(1).max(500).default(200),
    }),
    answer: z.object({ events: z.array(eventLine), next: z.number().nullable() }),
  }),
  listLogs: declare("listLogs", {
    summary: "The newest lines that the workflow wrote with ctx.log, oldest first.",
    ...read,
    verb: { library: "engine.reports.logs", cli: "logs" },
    query: z.strictObject({
      level: z.enum(LOG_LEVELS).exactOptional().meta({ description: "This level and above" }),
      step: step.exactOptional().meta({ description: "Only this step and those inside it" }),
      limit: z.number().int().min(1).max(1_000).default(200),
    }),
    answer: z.object({
      lines: z.array(logLine),
      more: z.boolean().meta({ description: "True when there are older lines" }),
    }),
  }),
  getCost: declare("getCost", {
    summary:
      "What the run has cost: spent, wasted on failed attempts, saved by resuming instead of starting over.",
    ...read,
    verb: { library: "engine.reports.costs", cli: "cost <run>" },
    query: z.strictObject({ by: z.enum(["step", "model"]).exactOptional() }),
    answer: costReport,
  }),
  listCosts: declare("listCosts", {
    summary: "What runs have cost, in groups.",
    ...read,
    verb: { library: "engine.reports.costs", cli: "cost" },
    query: z.strictObject({
      by: z.enum(COST_GROUPS).exactOptional(),
      workflow: workflowName.exactOptional(),
      since: z.number().int().min(0).exactOptional(),
      limit: z.number().int().min(1).max(10_000).default(50).meta({
        description: "At most this many runs, the newest; `more` tells whether there are others",
      }),
    }),
    answer: costReport,
  }),
  listCheckpoints: declare("listCheckpoints", {
    summary: "The checkpoints that can be restored, newest first.",
    ...read,
    verb: { library: "engine.checkpoints.list", cli: "checkpoints list" },
    query: z.strictObject({
      limit,
      before: z.number().int().min(1).exactOptional(),
      all: z.boolean().exactOptional(),
    }),
    answer: z.object({ checkpoints: z.array(checkpointItem) }),
  }),
  getCheckpoint: declare("getCheckpoint", {
    summary: "The run at one position, without values.",
    ...read,
    verb: { library: "engine.checkpoints.show", cli: "checkpoints show" },
    answer: checkpointHead,
  }),
  readState: declare("readState", {
    summary:
      "The run at one position, with its values. The reading is recorded in its journal, with the reason.",
    permission: "state:read",
    verb: { library: "engine.checkpoints.reveal", cli: "checkpoints show --reveal" },
    body: z.strictObject({ reason }),
    answer: checkpointValues,
  }),
  previewState: declare("previewState", {
    summary:
      "The same with each value cut to its beginning, however large they are. The reading is recorded too.",
    permission: "state:read",
    verb: { library: "engine.checkpoints.preview", cli: "checkpoints show --reveal" },
    body: z.strictObject({
      reason,
      prefix: z
        .string()
        .max(1_000)
        .exactOptional()
        .meta({ description: "Only values whose name begins with this" }),
    }),
    answer: statePreview,
  }),
  readConversation: declare("readConversation", {
    summary: "What an agent of the run and its model have said, with tool calls. The reading is recorded.",
    permission: "state:read",
    verb: {
      library: "engine.checkpoints.conversation",
      cli: "none: checkpoints show --reveal shows it as JSON",
    },
    body: z.strictObject({
      reason,
      agent: z.string().min(1).max(1_000).exactOptional().meta({ description: "The key of its loop" }),
      from: z.number().int().min(0).default(0),
      limit: z.number().int().min(1).max(200).default(100),
    }),
    answer: conversation,
  }),
  diff: declare("diff", {
    summary: "What differs between two checkpoints (`run@at`), of one run or of two, without values.",
    ...read,
    about: "list",
    verb: { library: "engine.checkpoints.diff", cli: "diff" },
    query: z.strictObject({ from: at, to: at }),
    answer: diffHead,
  }),
  readDiff: declare("readDiff", {
    summary: "The same with the values. The reading is recorded in the journals, with the reason.",
    permission: "state:read",
    about: "list",
    verb: { library: "engine.checkpoints.diff", cli: "diff --reveal" },
    body: z.strictObject({ from: at, to: at, reason }),
    answer: diffHead.extend({
      ...diffValues,
    }),
  }),
  validateRun: declare("validateRun", {
    summary: "Checks the run's journal, values and blobs from the first entry to the last.",
    permission: "audit:read",
    verb: { library: "engine.checkpoints.validate", cli: "validate" },
    answer: validation,
  }),
  pinCheckpoint: declare("pinCheckpoint", {
    summary: "Keeps the values of a checkpoint, whatever retention says.",
    permission: "runs:act",
    verb: { library: "engine.checkpoints.pin", cli: "checkpoints pin" },
    body: z.strictObject({ reason: reason.exactOptional() }),
    answer: z.object({ checkpoint: z.string() }),
  }),
  unpinCheckpoint: declare("unpinCheckpoint", {
    summary: "Lets retention have the values of a checkpoint again.",
    permission: "runs:act",
    verb: { library: "engine.checkpoints.unpin", cli: "checkpoints unpin" },
    body: z.strictObject({ reason: reason.exactOptional() }),
    answer: z.object({ checkpoint: z.string() }),
  }),
  labelCheckpoint: declare("labelCheckpoint", {
    summary: "Names a checkpoint; an empty name removes it.",
    permission: "runs:act",
    verb: { library: "engine.checkpoints.label", cli: "checkpoints create --label" },
    body: z.strictObject({ reason: reason.exactOptional(), label: z.string().max(64) }),
    answer: z.object({ checkpoint: z.string() }),
  }),
  replayCheckpoint: declare("replayCheckpoint", {
    summary:
      "Runs the code against the records up to a checkpoint. Calls nothing, and the reading is recorded.",
    permission: "state:read",
    verb: { library: "engine.replay", cli: "replay" },
    body: z.strictObject({ reason }),
    answer: replay,
  }),
  getGate: declare("getGate", {
    summary: "An open gate with what it shows: what is asked, of whom, and about which arguments.",
    permission: "gates:answer",
    verb: { library: "engine.gates", cli: "gate show" },
    query: z.strictObject({ gate: step }),
    answer: gate,
  }),
};
