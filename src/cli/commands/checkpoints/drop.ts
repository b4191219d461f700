import { defined } from "../../../core/defined.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { HoldfastError } from "../../../core/errors.ts";
import type { Act } from "../../../core/journal/act.ts";
import { RETENTION_PRESETS, type RetentionPolicy } from "../../../core/manage/retention/policy.ts";
import type { RetentionReport } from "../../../core/manage/retention/report.ts";
import { didYouMean } from "../../../core/nearest.ts";
import { everyRun } from "../../../core/store/query.ts";
import { defineCommand } from "../../command.ts";
import { engineSettings } from "../../config/engine-settings.ts";
import type { CommandContext } from "../../context.ts";
import { columns, plural } from "../../format.ts";
import type { Outcome } from "../../outcome.ts";
import { readCount, readSpan } from "../../view/parsers.ts";
import { bytes } from "../../view/sizes.ts";

export const prune = defineCommand({
  name: "prune",
  summary: "Drop checkpoints that need not be kept; the record of what happened stays",
  options: {
    olderThan: {
      flag: "--older-than <time>",
      summary: "Checkpoints, and ended runs, older than this",
      parse: readSpan,
    },
    keep: { flag: "--keep <n>", summary: "Keep this many newest checkpoints of each run", parse: readCount },
    policy: {
      flag: "--policy <name>",
      summary: "By this named policy instead of the configured one",
      choices: RETENTION_PRESETS,
    },
    workflow: { flag: "--workflow <name>", summary: "Only runs of this workflow" },
    dryRun: { flag: "--dry-run", summary: "Only print what would be dropped" },
  },
  examples: [
    "checkpoints prune --older-than 7d --dry-run",
    "checkpoints prune --keep 5 --workflow reconcile",
  ],
  async run(context) {
    const { olderThan, keep, policy, workflow, dryRun } = context.options;
    const ages = { maxAge: olderThan, failedMaxAge: olderThan, checkpointMaxAge: olderThan };
    const asked: RetentionPolicy = defined({ preset: policy, ...ages, keepLast: keep });
    const isAsked = (olderThan ?? keep ?? policy) !== undefined;
    const configured = engineSettings(await context.settings()).retention ?? "default";
    return drop(context, {
      verb: "checkpoints prune",
      policy: isAsked ? asked : configured,
      workflow,
      dryRun,
    });
  },
});

export const clear = defineCommand({
  name: "clear",
  summary: "Delete every ended run of a workflow, with all its checkpoints",
  args: ["<workflow>"],
  options: {
    unfinished: { flag: "--unfinished", summary: "Also cancel and delete the runs that haven't ended" },
    keepRecord: { flag: "--keep-record", summary: "Drop only values; the record of what happened stays" },
    dryRun: { flag: "--dry-run", summary: "Only print what would be dropped" },
  },
  examples: ["checkpoints clear reconcile --dry-run", "checkpoints clear reconcile --unfinished --yes"],
  async run(context) {
    const workflow = context.args[0] ?? "";
    const { unfinished, keepRecord, dryRun } = context.options;
    const store = await context.store();
    const [known] = (await store.list({ workflow, limit: 1 })).runs;
    if (!known) throw await noWorkflow(context, workflow);
    const onExpiry = keepRecord ? "keep-record" : "delete";
    const policy = { maxAge: 0, failedMaxAge: 0, onExpiry, tombstone: true } as const;
    return drop(context, { verb: "checkpoints clear", policy, workflow, dryRun, unfinished });
  },
});

async function noWorkflow(context: CommandContext<unknown>, workflow: string): Promise<HoldfastError> {
  const recent = (await (await context.store()).list({ limit: 200 })).runs.map((run) => run.workflow);
  const meant = didYouMean(workflow, recent, " (did you mean ", "?)");
  return new HoldfastError("HF-4303", { address: `${workflow}${meant}`, store: context.where });
}

interface Dropping {
  readonly verb: string;
  readonly policy: RetentionPolicy;
  readonly workflow: string | undefined;
  readonly dryRun: boolean;
  /** Also deletes runs that have not ended. */
  readonly unfinished?: boolean;
}

/** Shows how much, asks for consent, then drops. */
async function drop(
  context: CommandContext<unknown>,
  { verb, policy, workflow, dryRun, unfinished = false }: Dropping,
): Promise<Outcome> {
  const act = dryRun ? {} : await context.act(verb);
  const engine = await context.engine();
  const which = defined({ workflow });
  const foreseen = await engine.retention.preview(policy, which);
  const open = await unended(engine, workflow);
  const [left, more] = unfinished ? [[], open] : [open, []];
  if (dryRun || foreseen.runs.length + more.length === 0)
    return {
      data: { ...foreseen, dryRun, dropped: false, unended: left.length, unfinished: more },
      text: [textOf(foreseen, left.length, false), ...stopped(more, false)].join("\n"),
    };
  context.out.say([textOf(foreseen, left.length, false), ...stopped(more, false)].join("\n"));
  await context.confirm(verb, [amount(foreseen), ...stopped(more, false)].join("; "));
  const done = await engine.retention.prune(policy, { ...which, ...act });
  for (const id of more) await deleteUnlessGone(engine, id, act);
  return {
    data: { ...done, dryRun, dropped: true, unended: left.length, unfinished: more },
    text: [textOf(done, left.length, true), ...stopped(more, true)].join("\n"),
  };
}

const stopped = (ids: readonly string[], isDone: boolean): readonly string[] =>
  ids.length === 0
    ? []
    : [`  ${isDone ? "deleted" : "would cancel and delete"}: ${plural(ids.length, "unfinished run")}`];

/** A run below another one goes with it. */
async function deleteUnlessGone(engine: Engine, id: string, act: Act): Promise<void> {
  await engine.delete(id, { ...act, force: true }).catch((error: unknown) => {
    if (!HoldfastError.is(error, "HF-1001")) throw error;
  });
}

/** Unfinished runs lose nothing because of their age. Parents come before the runs below them. */
async function unended(engine: Engine, workflow: string | undefined): Promise<readonly string[]> {
  const status = ["queued", "running", "waiting", "paused"] as const;
  const found: string[] = [];
  for await (const { id } of everyRun(engine, { status, ...defined({ workflow }) })) found.unshift(id);
  return found;
}

const amount = ({ runs, checkpoints, entries, blobs, bytes: size }: RetentionReport): string =>
  `${plural(checkpoints, "checkpoint")} of ${plural(runs.length, "run")}: ${plural(entries + blobs, "value")}, ${bytes(size)}`;

const MOST_RUNS = 20;

function textOf(report: RetentionReport, left: number, isDone: boolean): string {
  const { runs, skipped } = report;
  const kept =
    skipped.length === 0 ? [] : [`  skipped: ${plural(skipped.length, "run")} (${reasons(report)})`];
  const idle = (report.withoutEffect ?? []).map(
    (rule) => `  without effect here: ${rule}, since the store has no cache`,
  );
  const active = left === 0 ? [] : [`  not ended: ${plural(left, "run")}, whose age does not count`];
  if (runs.length === 0) return ["✓ nothing to drop", ...kept, ...active, ...idle].join("\n");
  const rows = runs
    .slice(0, MOST_RUNS)
    .map(({ runId, workflow, why, checkpoints, entries, blobs, bytes: size, pruned, deleted }) => [
      `  ${runId}`,
      workflow,
      plural(checkpoints, "checkpoint"),
      `${plural(entries + blobs, "value")}, ${bytes(size)}`,
      `${why.join(", ")}${deleted ? "; the run is deleted" : pruned ? "; it can no longer be resumed or forked" : ""}`,
    ]);
  const more = runs.length > MOST_RUNS ? [`  … and ${runs.length - MOST_RUNS} more runs`] : [];
  const head = isDone ? `✓ dropped ${amount(report)}` : `would drop ${amount(report)}`;
  return [head, ...columns(rows), ...more, ...kept, ...active, ...idle].join("\n");
}

const reasons = ({ skipped }: RetentionReport): string =>
  [...new Set(skipped.map(({ why }) => why))].join(", ");
