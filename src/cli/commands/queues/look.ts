import { HoldfastError } from "../../../core/errors.ts";
import type { QueueView } from "../../../core/flow/queues.ts";
import type { Store } from "../../../core/store/contract.ts";
import { defineCommand } from "../../command.ts";
import { coarse, word } from "../../format.ts";
import { type Column, listText } from "../../view/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "QUEUE", least: 12, isName: true },
  { title: "LIMITS", least: 12 },
  { title: "RUNNING", align: "right" },
  { title: "IN LINE", align: "right" },
  { title: "STATUS" },
];

/** The most runs of a queue that are named. */
const SHOWN = 20;

export const list = defineCommand({
  name: "list",
  summary: "List all queues",
  examples: ["queues list"],
  async run(context) {
    const { queues: defined, reports } = await context.engine();
    const queues = [];
    for (const queue of await defined.list()) queues.push({ ...queue, ...(await reports.queue(queue.name)) });
    const rows = queues.map((queue) => [
      queue.name,
      limitsText(queue),
      String(queue.running),
      String(queue.waiting),
      statusOf(queue),
    ]);
    const [first] = queues;
    return {
      data: { queues },
      text: listText(context, COLUMNS, rows, "There are no queues."),
      next: first ? [`queues show ${word(first.name)}`] : [],
    };
  },
});

export const show = defineCommand({
  name: "show",
  summary: "Show a queue, the runs that hold its places and those in line",
  args: ["<queue>"],
  examples: ["queues show orders"],
  async run(context) {
    const [name = ""] = context.args;
    const queue = await (await context.engine()).queues.get(name);
    if (!queue) throw new HoldfastError("HF-5100", { kind: "queue", name });
    const store = await context.store();
    const running = await runsOf(store, name, "running");
    const queued = await runsOf(store, name, "queued");
    const why = queue.paused?.reason === undefined ? "" : `: ${queue.paused.reason}`;
    const text = [
      `${name}   ${statusOf(queue)}${why}`,
      `  ${limitsText(queue)}`,
      ...linesOf("in progress", running),
      ...linesOf("in line", queued),
    ].join("\n");
    return { data: { queue, running, queued }, text };
  },
});

interface Standing {
  readonly runs: readonly { readonly id: string; readonly key: string | null }[];
  readonly isAll: boolean;
}

async function runsOf(store: Store, queue: string, status: "running" | "queued"): Promise<Standing> {
  const { runs } = await store.list({ queue, status: [status], limit: SHOWN + 1 });
  return { runs: runs.slice(0, SHOWN).map(({ id, key }) => ({ id, key })), isAll: runs.length <= SHOWN };
}

const linesOf = (what: string, { runs, isAll }: Standing): readonly string[] => [
  `  ${isAll ? runs.length : `more than ${SHOWN}`} ${what}`,
  ...runs.map(({ id, key }) => `    ${id}${key === null ? "" : `  ${key}`}`),
];

const statusOf = ({ paused }: QueueView): string => (paused ? "paused" : "open");

/** A queue's limits, in a few words. */
export function limitsText({ concurrency, perKey, fairBy, rate }: QueueView): string {
  const parts = [
    ...(concurrency === undefined ? [] : [`${concurrency} at once`]),
    ...(perKey === undefined ? [] : [`${perKey} per key`]),
    ...(rate === undefined ? [] : [`${rate.calls} in ${coarse(rate.periodMs ?? 60_000)}`]),
  ];
  const limits = parts.length === 0 ? "no limits" : parts.join(", ");
  return fairBy === undefined ? limits : `${limits}, fair by ${fairBy}`;
}
