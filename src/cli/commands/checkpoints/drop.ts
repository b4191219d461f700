import { defined } from "../../../core/defined.ts";
import type { Engine } from "../../../core/engine.ts";
import { HoldfastError } from "../../../core/errors.ts";
import type { RetentionPolicy } from "../../../core/manage/retention/policy.ts";
import type { RetentionReport } from "../../../core/manage/retention/report.ts";
import { nearest } from "../../../core/nearest.ts";
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
  summary: "drop checkpoints that need not be kept; what happened stays on record",
  options: {
    olderThan: { flag: "--older-than <time>", summary: "of runs that ended so long ago", parse: readSpan },
    keep: { flag: "--keep <n>", summary: "of each run, its newest checkpoints", parse: readCount },
    workflow: { flag: "--workflow <name>", summary: "only runs of this workflow" },
    dryRun: { flag: "--dry-run", summary: "only say what would go" },
  },
  examples: [
    "checkpoints prune --older-than 7d --dry-run",
    "checkpoints prune --keep 5 --workflow reconcile",
  ],
  async run(context) {
    const { olderThan, keep, workflow, dryRun } = context.options;
    const asked: RetentionPolicy = defined({ maxAge: olderThan, failedMaxAge: olderThan, keepLast: keep });
    const isAsked = olderThan !== undefined || keep !== undefined;
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
  summary: "drop the values of every ended run of a workflow",
  args: ["<workflow>"],
  options: { dryRun: { flag: "--dry-run", summary: "only say what would go" } },
  examples: ["checkpoints clear reconcile --dry-run"],
  async run(context) {
    const workflow = context.args[0] ?? "";
    const store = await context.store();
    const [known] = (await store.list({ workflow, limit: 1 })).runs;
    if (!known) throw await noWorkflow(context, workflow);
    const policy = { maxAge: 0, failedMaxAge: 0 };
    return drop(context, { verb: "checkpoints clear", policy, workflow, dryRun: context.options.dryRun });
  },
});

async function noWorkflow(context: CommandContext<unknown>, workflow: string): Promise<HoldfastError> {
  const recent = (await (await context.store()).list({ limit: 200 })).runs.map((run) => run.workflow);
  const meant = recent.length === 0 ? "" : ` (did you mean ${nearest(workflow, recent)}?)`;
  return new HoldfastError("HF-4303", { address: `${workflow}${meant}`, store: context.where });
}

interface Dropping {
  readonly verb: string;
  readonly policy: RetentionPolicy;
  readonly workflow: string | undefined;
  readonly dryRun: boolean;
}

/** Shows how much, asks for consent, then drops. */
async function drop(
  context: CommandContext<unknown>,
  { verb, policy, workflow, dryRun }: Dropping,
): Promise<Outcome> {
  const act = dryRun ? {} : await context.act(verb);
  const engine = await context.engine();
  const which = defined({ workflow });
  const foreseen = await engine.retention.preview(policy, which);
  const left = await unended(engine, workflow);
  if (dryRun || foreseen.runs.length === 0)
    return {
      data: { ...foreseen, dryRun, dropped: false, unended: left },
      text: textOf(foreseen, left, false),
    };
  context.out.say(textOf(foreseen, left, false));
  await context.confirm(verb, amount(foreseen));
  const done = await engine.retention.prune(policy, { ...which, ...act });
  return { data: { ...done, dryRun, dropped: true, unended: left }, text: textOf(done, left, true) };
}

/** Unfinished runs lose nothing because of their age. */
async function unended(engine: Engine, workflow: string | undefined): Promise<number> {
  const status = ["queued", "running", "waiting", "paused"] as const;
  const which = defined({ workflow });
  let found = 0;
  for await (const _ of everyRun(engine, { status, ...which })) found++;
  return found;
}

const amount = ({ runs, checkpoints, entries, blobs, bytes: size }: RetentionReport): string =>
  `${plural(checkpoints, "checkpoint")} of ${plural(runs.length, "run")}: ${plural(entries + blobs, "value")}, ${bytes(size)}`;

const MOST_RUNS = 20;

function textOf(report: RetentionReport, left: number, isDone: boolean): string {
  const { runs, skipped } = report;
  const kept =
    skipped.length === 0 ? [] : [`  left alone: ${plural(skipped.length, "run")} (${reasons(report)})`];
  const idle = (report.withoutEffect ?? []).map(
    (rule) => `  without effect here: ${rule}, since the store has no cache`,
  );
  const active = left === 0 ? [] : [`  not ended: ${plural(left, "run")}, whose age does not count`];
  if (runs.length === 0) return ["✓ nothing to drop", ...kept, ...active, ...idle].join("\n");
  const rows = runs
    .slice(0, MOST_RUNS)
    .map(({ runId, workflow, why, checkpoints, entries, blobs, bytes: size, pruned }) => [
      `  ${runId}`,
      workflow,
      plural(checkpoints, "checkpoint"),
      `${plural(entries + blobs, "value")}, ${bytes(size)}`,
      `${why.join(", ")}${pruned ? "; nothing of it can be resumed or forked then" : ""}`,
    ]);
  const more = runs.length > MOST_RUNS ? [`  … and ${runs.length - MOST_RUNS} more runs`] : [];
  const head = isDone ? `✓ dropped ${amount(report)}` : `would drop ${amount(report)}`;
  return [head, ...columns(rows), ...more, ...kept, ...active, ...idle].join("\n");
}

const reasons = ({ skipped }: RetentionReport): string =>
  [...new Set(skipped.map(({ why }) => why))].join(", ");
