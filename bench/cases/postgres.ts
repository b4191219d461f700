import { createEngine, type Workflow, workflow } from "holdfast";
import { openPostgresStore } from "holdfast/stores/postgres";
import { openRedisCache } from "holdfast/stores/redis";
import { createTieredStore } from "holdfast/stores/tiered";
import pg from "pg";
import { startPostgres } from "../../lab/services/postgres.ts";
import { startRedis } from "../../lab/services/redis.ts";
import type { Store } from "../../src/core/store/contract.ts";
import type { CaseReport } from "../run.ts";
import { median, payload } from "../workbench.ts";

const steps = workflow("steps", async (ctx, count: number) => {
  for (let n = 0; n < count; n++) await ctx.step("step", () => payload(n));
});

let firstNewStep = 0;
const gated = workflow("gated", async (ctx, count: number) => {
  for (let n = 0; n < count; n++) await ctx.step("step", () => payload(n));
  await ctx.gate("go", { choices: ["on"] });
  await ctx.step("new", () => {
    firstNewStep = performance.now();
  });
});

/** The same PostgreSQL, in turn: rows of our own committed one by one, durable steps, and a restore with and without a cache. */
export async function postgres({ quick }: { quick: boolean }): Promise<CaseReport> {
  const [server, redis] = [await startPostgres(), await startRedis()];
  if (!server || !redis) throw new Error("PostgreSQL and redis-server must be on this machine.");
  const open = (): Promise<Store> => openPostgresStore({ connectionString: server.url });
  const tiered = async (): Promise<Store> =>
    createTieredStore({ primary: await open(), cache: openRedisCache({ url: redis.url }) });
  try {
    const [rounds, count] = quick ? [3, 100] : [9, 300];
    const rates = { raw: [] as number[], one: [] as number[], many: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      rates.raw.push(await rawCommits(server.url, count));
      rates.one.push(await stepsPerSecond(open, count, 1));
      rates.many.push(await stepsPerSecond(open, count / 10, 100));
    }
    const finished = quick ? 200 : 1_000;
    const restored = { primary: await restoreMs(open, finished), cached: await restoreMs(tiered, finished) };
    const [raw, one, many] = [median(rates.raw), median(rates.one), median(rates.many)];
    return {
      figures: {
        "raw one-row commits/s, one connection": raw,
        "durable steps/s, 1 run": one,
        "durable steps/s, 100 runs at once": many,
        "steps/s of 100 runs ÷ raw commits/s": many / raw,
        [`ms to the first new step, ${finished} finished steps`]: restored.primary,
        "the same with a Redis cache in front": restored.cached,
      },
      goals: [
        { goal: "sequential steps ≥ 0.6 of raw one-row commits", measured: one / raw, met: one / raw >= 0.6 },
      ],
    };
  } finally {
    await server.remove();
    await redis.remove();
  }
}

async function rawCommits(url: string, count: number): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("create table if not exists raw_steps (id bigserial primary key, seq int, out text)");
  const start = performance.now();
  for (let n = 0; n < count; n++)
    await client.query({
      name: "raw",
      text: "insert into raw_steps (seq, out) values ($1, $2)",
      values: [n, payload(n)],
    });
  const rate = (count / (performance.now() - start)) * 1_000;
  await client.end();
  return rate;
}

async function withEngine<T>(
  open: () => Promise<Store>,
  flows: readonly Workflow<never, unknown>[],
  work: (engine: ReturnType<typeof createEngine>) => Promise<T>,
): Promise<T> {
  const store = await open();
  const engine = createEngine({ store, workflows: flows });
  try {
    return await work(engine);
  } finally {
    await engine.close();
    await store.close();
  }
}

function stepsPerSecond(open: () => Promise<Store>, count: number, width: number): Promise<number> {
  return withEngine(open, [steps], async (engine) => {
    const start = performance.now();
    const lane = async () => engine.result((await engine.start(steps, count)).id);
    await Promise.all(Array.from({ length: width }, lane));
    return ((count * width) / (performance.now() - start)) * 1_000;
  });
}

/** From the moment a fresh engine is asked to recover a run to the first step that had not run before. */
async function restoreMs(open: () => Promise<Store>, count: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const id = await withEngine(open, [gated], async (engine) => {
      const run = await engine.start(gated, count);
      await engine.settled(run.id);
      return run.id;
    });
    await withEngine(open, [], (client) => client.answer(id, "go", { choice: "on" }));
    await withEngine(open, [gated], async (engine) => {
      const start = performance.now();
      await engine.recover();
      await engine.result(id);
      times.push(firstNewStep - start);
    });
  }
  return median(times);
}
