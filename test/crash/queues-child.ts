import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { WorkerPlan } from "../../lab/queues/queues.ts";
import { createEngine, workflow } from "../../src/index.ts";
import { openStore } from "../../src/stores/open.ts";

/** `<plan>`: a worker whose steps write to a file when they begin and when they end. */
const { url, file, workMs, promised } = JSON.parse(process.argv[2] ?? "") as WorkerPlan;
const { pid } = process;

const work = workflow("work", (ctx, key: string) =>
  ctx.step(
    "work",
    async () => {
      const note = (what: "begin" | "end"): void => {
        const line = { what, run: ctx.runId, key, pid, at: Date.now() };
        appendFileSync(file, `${JSON.stringify(line)}\n`);
      };
      note("begin");
      process.send?.("begun");
      await delay(workMs);
      note("end");
    },
    { effect: "repeatable" },
  ),
);

const { concurrency, perKey, calls, periodMs } = promised;
const engine = createEngine({
  store: await openStore(url),
  workflows: [work],
  queues: { orders: { concurrency, perKey, rate: { calls, periodMs } } },
  claimMs: 2_000,
  sweepMs: 250,
  recovery: { maxAttempts: 100 },
  retention: "forever",
});
await engine.work();
process.once("disconnect", () => process.exit(0));
