import path from "node:path";
import { createEngine, type Store, workflow } from "holdfast";
import { openFileStore } from "holdfast/stores/file";
import { openPgliteStore } from "holdfast/stores/pglite";
import { openPostgresStore } from "holdfast/stores/postgres";
import { openRedisStore } from "holdfast/stores/redis";
import { openSqliteStore } from "holdfast/stores/sqlite";
import { startPostgres } from "../../lab/services/postgres.ts";
import { startRedis } from "../../lab/services/redis.ts";
import type { CaseReport, Goal } from "../run.ts";
import { inFolder, payload, quantile } from "../workbench.ts";

const TYPICAL_MS = 10;
const P95_MS = 15;
const WARM_UP = 10;

const times: number[] = [];

/** Checkpoints of 2 KiB, each waited for: the time of one durable write, as an agent sees it. */
const writes = workflow("writes", async (ctx, count: number) => {
  for (let n = 0; n < count; n++) {
    ctx.memory.set("turn", payload(n));
    const start = performance.now();
    await ctx.checkpoint(`turn-${n}`);
    if (n >= WARM_UP) times.push(performance.now() - start);
  }
});

async function measured(open: () => Promise<Store>, count: number): Promise<readonly number[]> {
  times.length = 0;
  const store = await open();
  const engine = createEngine({ store, workflows: [writes] });
  try {
    await (await engine.start(writes, count + WARM_UP)).result();
    return [...times];
  } finally {
    await engine.close({ drainMs: 0 });
    await store.close();
  }
}

/** One durable write of each store, beside the documents' 10 ms and, for 95 of 100, 15 ms. */
export async function writesPerStore({ quick }: { quick: boolean }): Promise<CaseReport> {
  const figures: Record<string, number> = {};
  const goals: Goal[] = [];
  const [postgres, redis] = [await startPostgres(), await startRedis()];
  if (!postgres || !redis) throw new Error("PostgreSQL and redis-server must be on this machine.");
  try {
    await inFolder(async (folder) => {
      const stores: Readonly<Record<string, () => Promise<Store>>> = {
        sqlite: () => openSqliteStore({ file: path.join(folder, "writes.db") }),
        files: () => openFileStore({ folder: path.join(folder, "files") }),
        pglite: () => openPgliteStore({ folder: path.join(folder, "pg") }),
        postgres: () => openPostgresStore({ connectionString: postgres.url, schema: "writes" }),
        "redis, appendfsync always": () => openRedisStore({ url: redis.url, prefix: "writes" }),
      };
      for (const [name, open] of Object.entries(stores)) {
        const found = await measured(open, quick ? 100 : 500);
        const [p50, p95] = [quantile(found, 0.5), quantile(found, 0.95)];
        figures[`${name}: durable write, p50 ms`] = p50;
        figures[`${name}: durable write, p95 ms`] = p95;
        goals.push({ goal: `${name}: about ${TYPICAL_MS} ms`, measured: p50, met: p50 <= TYPICAL_MS });
        goals.push({ goal: `${name}: p95 ≤ ${P95_MS} ms`, measured: p95, met: p95 <= P95_MS });
      }
    });
  } finally {
    await Promise.all([postgres.stop(), redis.stop()]);
  }
  return { figures, goals };
}
