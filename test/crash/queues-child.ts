import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { WorkerPlan } from "../../lab/queues/queues.ts";
import { createEngine, workflow } from "../../src/index.ts";
import { openStore } from "../../src/stores/open.ts";

/** `<plan>`: a worker whose steps write to a file when they begin and when they end. */
const { url, file, workMs, promised, rate } = JSON.parse(process.argv[2] ?? "") as WorkerPlan;
const { pid } = process;

const work = workflow("work", async (ctx, key: string) => {
  const note = (what: "begin" | "end"): void => {
    const line = { what, run: ctx.runId, key, pid, at: Date.now() };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  };
  const begin = (): void => {
    note("begin");
    process.send?.("begun");
  };
  if (rate === "runs") begin();
  const call = async (): Promise<void> => {
    if (rate === "calls") begin();
    await delay(workMs);
  };
  await ctx.step("work", call, rate === "calls" ? { limit: "carrier" } : {});
  note("end");
});

const { concurrency, perKey, calls, periodMs } = promised;
const engine = createEngine({
  store: await openStore(url),
  workflows: [work],
  queues: {
    orders: { concurrency, perKey, ...(rate === "runs" ? { rate: { calls, periodMs } } : {}) },
  },
  rateLimits: rate === "calls" ? { carrier: { calls, periodMs } } : {},
  claimMs: 2_000,
  sweepMs: 250,
  recovery: { maxAttempts: 100 },
  retention: "forever",
});
await engine.work();
process.once("disconnect", () => process.exit(0));
