import { z } from "zod";
import { MOST_IN_SIGNAL } from "../../core/names.ts";
import { declare } from "./declare.ts";
import {
  at,
  budget,
  labels,
  queueName,
  reason,
  run,
  runId,
  runItem,
  runKey,
  runName,
  step,
  time,
  usage,
  value,
  workflowName,
} from "./shapes.ts";
import { edits, effects, forkPreview, resumeFields, resumePlan } from "./shapes-of-plans.ts";
import { restarted } from "./shapes-of-reports.ts";

const why = { reason: reason.exactOptional() };
const children = z.boolean().exactOptional().meta({ description: "Includes the runs below it" });
const act = { permission: "runs:act" } as const;

export const actOperations = {
  startRun: declare("startRun", {
    summary: "Starts a run of a workflow that this server has code for. The same id means the same run.",
    ...act,
    about: "list",
    verb: { library: "engine.start", cli: "run" },
    body: z.strictObject({
      ...why,
      workflow: workflowName,
      input: value.exactOptional(),
      id: runId.exactOptional(),
      budget: budget.exactOptional(),
      config: z.record(z.string(), z.unknown()).exactOptional(),
      name: runName.exactOptional(),
      labels: labels.exactOptional(),
      queue: queueName.exactOptional(),
      key: runKey.exactOptional(),
      priority: z.number().int().min(-100).max(100).exactOptional(),
      startAt: time.exactOptional(),
      singleton: z
        .enum(["join", "refuse"])
        .exactOptional()
        .meta({ description: "What to do while another run of the workflow and key hasn't ended" }),
      debounceMs: z.number().int().min(1).max(86_400_000).exactOptional().meta({
        description: "Begins once this many milliseconds have passed without another start of the key",
      }),
    }),
    answer: runItem,
  }),
  pauseRun: declare("pauseRun", {
    summary: "Stops the run at its next step boundary. No new step starts after the answer.",
    ...act,
    verb: { library: "engine.pause", cli: "pause" },
    body: z.strictObject({ ...why, children }),
    answer: runItem,
  }),
  resumeRun: declare("resumeRun", {
    summary:
      "Continues a paused, failed or held-back run, with changes if you like. Finished work is not repeated.",
    ...act,
    verb: { library: "engine.resume", cli: "resume" },
    body: z.strictObject({
      ...why,
      ...resumeFields,
      children,
      plan: z.string().max(200).exactOptional().meta({
        description: "The token of a plan; the resume is refused if the run or the changes are others now",
      }),
    }),
    answer: runItem,
  }),
  planResume: declare("planResume", {
    summary: "What a resume with these changes would do now. Changes nothing.",
    permission: "runs:read",
    verb: { library: "engine.plan", cli: "resume --plan" },
    body: z.strictObject(resumeFields),
    answer: resumePlan,
  }),
  cancelRun: declare("cancelRun", {
    summary: "Ends the run and those it started for good. With `compensate`, their work is undone first.",
    ...act,
    verb: { library: "engine.cancel", cli: "cancel" },
    body: z.strictObject({ ...why, compensate: z.boolean().exactOptional() }),
    answer: runItem,
  }),
  retryStep: declare("retryStep", {
    summary: "Calls a step again that has failed, or whose outcome is unknown.",
    ...act,
    verb: { library: "engine.retry", cli: "retry" },
    body: z.strictObject({
      ...why,
      step,
      now: z.boolean().exactOptional(),
      newKey: z.boolean().exactOptional(),
    }),
    answer: runItem,
  }),
  injectContext: declare("injectContext", {
    summary: "Gives the run context, which it finds at its next step.",
    ...act,
    verb: { library: "engine.inject", cli: "inject" },
    body: z.strictObject({
      ...why,
      context: value,
      children,
      to: z.string().min(1).max(128).exactOptional(),
    }),
    answer: runItem,
  }),
  sendSignal: declare("sendSignal", {
    summary: "Puts a message into the run's mailbox.",
    ...act,
    verb: { library: "engine.signal", cli: "signal" },
    body: z.strictObject({
      ...why,
      name: z.string().min(1).max(MOST_IN_SIGNAL),
      payload: value.exactOptional(),
    }),
    answer: runItem,
  }),
  answerGate: declare("answerGate", {
    summary: "Answers a gate. The first answer counts.",
    permission: "gates:answer",
    verb: { library: "engine.answer", cli: "gate answer" },
    body: z.strictObject({
      ...why,
      gate: step,
      choice: z.string().min(1).max(500),
      text: z.string().max(100_000).exactOptional(),
      data: value.exactOptional().meta({ description: "For a gate that asks for data" }),
      digest: z.string().max(200).exactOptional().meta({
        description: "The digest of what you have seen; the answer is refused if something else is shown",
      }),
    }),
    answer: z.object({
      choice: z.string(),
      text: z.string().exactOptional(),
      actor: z.string(),
      at: z.number(),
      timedOut: z.boolean(),
    }),
  }),
  resolveStep: declare("resolveStep", {
    summary: "Settles a step whose outcome is unknown: done, failed, run it again, or cancel the run.",
    ...act,
    verb: { library: "engine.resolve", cli: "resume --in-doubt" },
    body: z.strictObject({
      ...why,
      step,
      action: z.enum(["rerun", "done", "failed", "cancel"]),
      newKey: z.boolean().exactOptional(),
      value: value.exactOptional(),
      error: z.string().max(4_000).exactOptional(),
    }),
    answer: runItem,
  }),
  forkRun: declare("forkRun", {
    summary: "Creates a run that continues from a checkpoint of this one, with other values if you like.",
    ...act,
    verb: { library: "engine.fork", cli: "fork" },
    body: z.strictObject({
      ...why,
      at: at.exactOptional(),
      id: runId.exactOptional(),
      set: edits.exactOptional(),
      effects: effects.exactOptional(),
      budget: budget.exactOptional(),
    }),
    answer: runItem,
  }),
  planFork: declare("planFork", {
    summary: "What a fork would do about the calls that this run has made since. Changes nothing.",
    permission: "runs:read",
    verb: { library: "engine.previewFork", cli: "fork --dry-run" },
    body: z.strictObject({
      at: at.exactOptional(),
      set: edits.exactOptional(),
      effects: effects.exactOptional(),
    }),
    answer: forkPreview,
  }),
  pinRun: declare("pinRun", {
    summary: "Keeps all values of the run and of those below it, whatever retention says.",
    ...act,
    verb: { library: "engine.retention.pin", cli: "checkpoints pin" },
    body: z.strictObject(why),
    answer: runItem,
  }),
  unpinRun: declare("unpinRun", {
    summary: "Lets retention have the run's values again.",
    ...act,
    verb: { library: "engine.retention.unpin", cli: "checkpoints unpin" },
    body: z.strictObject(why),
    answer: runItem,
  }),
  deleteRun: declare("deleteRun", {
    summary: "Deletes an ended run and those it started, with everything stored of them.",
    permission: "admin",
    verb: { library: "engine.delete", cli: "delete" },
    query: z.strictObject({
      ...why,
      tombstone: z.boolean().exactOptional(),
      force: z.boolean().exactOptional(),
    }),
    answer: z.object({ deleted: z.array(z.string()) }),
  }),
  exportRun: declare("exportRun", {
    summary: "The run as a bundle of JSON lines that another store can take in. It holds the run's values.",
    permission: "admin",
    verb: { library: "engine.transfer.exportRun", cli: "export" },
    query: z.strictObject({ reason, children }),
    answer: z.string(),
    media: { answer: "application/x-ndjson" },
  }),
  importRuns: declare("importRuns", {
    summary: "Takes in the runs of a bundle. They wait until somebody accepts what they would execute.",
    permission: "admin",
    verb: { library: "engine.transfer.importRuns", cli: "import" },
    body: z.strictObject({
      ...why,
      bundle: z.string().meta({ description: "The bundle, as export gives it" }),
      onConflict: z.enum(["refuse", "skip", "update"]).exactOptional(),
    }),
    bodyLimit: 64 * 1024 * 1024,
    answer: z.object({
      imported: z.array(z.string()),
      skipped: z.array(z.string()),
      review: z.array(z.string()),
    }),
  }),
  acceptImport: declare("acceptImport", {
    summary: "Lets an imported run continue after somebody has seen what it would execute.",
    permission: "admin",
    verb: { library: "engine.transfer.accept", cli: "accept" },
    body: z.strictObject({ ...why, digest: z.string().min(1).max(200) }),
    answer: run,
  }),
  migrateRun: declare("migrateRun", {
    summary:
      "Carries a run over to the version of the code that this server has; `asIs`: despite any difference.",
    ...act,
    verb: { library: "engine.migrations.apply", cli: "migrate" },
    body: z.strictObject({ ...why, asIs: z.boolean().exactOptional() }),
    answer: runItem,
  }),
  restartRun: declare("restartRun", {
    summary: "Starts a run again from the beginning, as a new run with the same input.",
    ...act,
    verb: { library: "engine.restarts.start", cli: "resume --fresh" },
    body: z.strictObject({ ...why, id: runId.exactOptional() }),
    answer: restarted,
  }),
  actOnRuns: declare("actOnRuns", {
    summary:
      "Does the same to up to 100 runs. With `dryRun` it only says which would be refused, and what they cost so far.",
    ...act,
    about: "list",
    verb: { library: "engine.pauseAll, resumeAll, cancelAll", cli: "pause --workflow" },
    body: z.strictObject({
      reason,
      act: z.enum(["pause", "resume", "cancel"]),
      runs: z.array(runId).min(1).max(100),
      retryFailed: z.boolean().exactOptional(),
      compensate: z.boolean().exactOptional(),
      dryRun: z.boolean().exactOptional(),
    }),
    answer: z.object({
      done: z.array(z.string()),
      refused: z.array(z.object({ run: z.string(), code: z.string(), what: z.string() })),
      usage,
    }),
  }),
};
