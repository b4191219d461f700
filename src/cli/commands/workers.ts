import { defineCommand } from "../command.ts";
import { coarse } from "../format.ts";
import { type Column, roomOf, table } from "../view/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "WORKER", least: 12, isName: true },
  { title: "RUNS", align: "right" },
  { title: "UP", align: "right" },
  { title: "STATE", least: 8 },
  { title: "WORKFLOWS", least: 16 },
];

/** `holdfast workers`: the processes that advance runs on this store. */
export const command = defineCommand({
  name: "workers",
  summary: "List the workers of the store, with their workflows and runs",
  examples: ["workers", "workers --json"],
  async run(context) {
    const store = await context.store();
    const [workers, now] = [await (await context.engine()).workers.list(), await store.now()];
    const cells = workers.map(({ owner, running, concurrency, since, isStopping, isStale, workflows }) => [
      owner,
      `${running}/${concurrency}`,
      coarse(Math.max(0, now - since)),
      isStale ? "stale" : isStopping ? "stopping" : "working",
      workflows.map(({ name, version }) => `${name} ${version}`).join(", "),
    ]);
    const none = "No worker has been heard of in the last minute. Start one: holdfast worker <files…>";
    const text = cells.length === 0 ? none : table(COLUMNS, cells, { room: roomOf(context.host) }).join("\n");
    return { data: { workers }, text };
  },
});
