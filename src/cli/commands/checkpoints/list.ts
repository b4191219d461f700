import { defined } from "../../../core/defined.ts";
import type { CheckpointItem } from "../../../core/manage/checkpoints/checkpoints.ts";
import { everyRun } from "../../../core/store/query.ts";
import type { RunRow } from "../../../core/types.ts";
import { defineCommand } from "../../command.ts";
import type { CommandContext } from "../../context.ts";
import { when } from "../../format.ts";
import type { Outcome } from "../../outcome.ts";
import { readCount } from "../../view/parsers.ts";
import { iso } from "../../view/run-rows.ts";
import { type Column, roomOf, table } from "../../view/table.ts";

const LIMIT = 50;
const PAGE = 50;

const options = {
  workflow: { flag: "--workflow <name>", summary: "Checkpoints of every run of this workflow" },
  all: { flag: "--all", summary: "Also positions inside iterations, and where the run is now" },
  limit: { flag: "--limit <n>", summary: `Show at most this many (default ${LIMIT})`, parse: readCount },
} as const;

export const list = defineCommand({
  name: "list",
  summary: "List the checkpoints that can be restored, newest first",
  args: ["[run]"],
  options,
  examples: ["checkpoints list recon-88", "checkpoints list --workflow reconcile"],
  run: (context) => listCheckpoints(context, { run: context.args[0], ...context.options }),
});

/** `holdfast list-checkpoints --task=…`: the same, as the checkpoint system design spells it. */
export const listOfTask = defineCommand({
  name: "list-checkpoints",
  summary: "Same as checkpoints list",
  options: {
    task: { flag: "--task <task>", summary: "A run, or a workflow for all of its runs" },
    all: options.all,
    limit: options.limit,
  },
  examples: ["list-checkpoints --task=example_task"],
  async run(context) {
    const { task, ...options } = context.options;
    if (task === undefined)
      return listCheckpoints(context, { ...options, run: undefined, workflow: undefined });
    const isWorkflow = (await (await context.store()).list({ workflow: task, limit: 1 })).runs.length > 0;
    return listCheckpoints(context, {
      ...options,
      run: isWorkflow ? undefined : task,
      workflow: isWorkflow ? task : undefined,
    });
  },
});

interface Wanted {
  readonly run: string | undefined;
  readonly workflow: string | undefined;
  readonly all: boolean;
  readonly limit: number | undefined;
}

async function listCheckpoints(context: CommandContext<unknown>, wanted: Wanted): Promise<Outcome> {
  const { out, host } = context;
  const limit = wanted.limit ?? LIMIT;
  const { checkpoints } = await context.engine();
  const found: CheckpointItem[] = [];
  for await (const row of rowsOf(context, wanted.run, wanted.workflow)) {
    const most = Math.min(1_000, limit + 1 - found.length);
    found.push(...(await checkpoints.list(row.id, { limit: most, all: wanted.all })));
    if (found.length > limit) break;
  }
  const shown = found.slice(0, limit);
  const now = await (await context.store()).now();
  const rows = shown.map((item) => rowOf(item, when(item.at, now, host.stdout.isTTY)));
  const room = roomOf(host);
  const [head = "", ...lines] = table(COLUMNS, rows, { room });
  const more = found.length > limit ? [out.paint.dim("… more; see --limit")] : [];
  return {
    data: { checkpoints: shown.map((item) => ({ ...item, at: iso(item.at) })), more: found.length > limit },
    text: shown.length === 0 ? "No checkpoint matches." : [out.paint.dim(head), ...lines, ...more].join("\n"),
    next: shown[0] ? [`checkpoints show ${shown[0].id}`] : [],
  };
}

async function* rowsOf(
  context: CommandContext<unknown>,
  run: string | undefined,
  workflow: string | undefined,
): AsyncGenerator<RunRow> {
  if (run !== undefined) {
    yield await (await context.addresses()).run(run);
    return;
  }
  const store = await context.store();
  yield* everyRun(store, defined({ workflow }), PAGE);
}

const COLUMNS: readonly Column[] = [
  { title: "CHECKPOINT", least: 14, isName: true },
  { title: "MADE", spare: true },
  { title: "WHAT", least: 14 },
  { title: "STEP", least: 12, isName: true },
  { title: "PHASE", spare: true },
  { title: "LABELS", least: 8 },
  { title: "" },
];

const rowOf = (
  { id, trigger, step, phase, labels, pinned, actor }: CheckpointItem,
  made: string,
): string[] => [
  id,
  made,
  `${trigger.replaceAll("_", " ")}${actor === undefined ? "" : ` by ${actor}`}`,
  // A mark isn't a step: its label describes it.
  step.startsWith("checkpoint:") ? "" : step,
  phase === step ? "" : phase,
  labels.join(", "),
  pinned ? "pinned" : "",
];
