import pg from "pg";
import { createClient } from "redis";
import { afterAll, describe, expect, it } from "vitest";
import { countingStore } from "../../../test/support/counting-store.ts";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import { sharedRedis } from "../../../test/support/services/redis.ts";
import { createEngine, workflow } from "../../index.ts";
import { openPostgresStore } from "../postgres/index.ts";
import { openRedisCache } from "../redis/index.ts";
import { createTieredStore } from "./index.ts";

const redis = await sharedRedis();
const postgres = await sharedPostgres();
const schema = `subtasks-${process.pid}`;
const pool = new pg.Pool({ connectionString: postgres.url, max: 4 });
const client = createClient(redis.url === undefined ? {} : { url: redis.url });
if (redis.url !== undefined) await client.connect();
afterAll(async () => {
  if (postgres.url !== undefined) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
  if (redis.url !== undefined) client.destroy();
});

describe.skipIf(redis.url === undefined || postgres.url === undefined)("a finished subtask", () => {
  it("is durable in PostgreSQL, and its copy in Redis is enough to read it (S0-05, S0-27)", async () => {
    const SUBTASKS = ["10k_parsing", "ratio_calculation", "peer_comparison", "red_flag_detection"];
    const analyst = workflow("financial_analyst", async (ctx) => {
      for (const subtask of SUBTASKS) {
        await ctx.step(subtask, () => subtask.toUpperCase());
        await ctx.signal(`after ${subtask}`);
      }
    });
    const primary = await openPostgresStore({ pool, schema });
    const opened = async () => {
      const { store, counts } = countingStore(await openPostgresStore({ pool, schema }));
      return { store: createTieredStore({ primary: store, cache: openRedisCache({ client }) }), counts };
    };
    const id = `analysis-${process.pid}`;
    for (const [index, subtask] of SUBTASKS.entries()) {
      const { store } = await opened();
      const engine = createEngine({ store, workflows: [analyst] });
      if (index === 0) await engine.start(analyst, undefined, { id });
      else await engine.signal(id, `after ${SUBTASKS[index - 1]}`, undefined);
      await expect
        .poll(async () => (await primary.read(id))?.waiting[0]?.names, { timeout: 30_000 })
        .toEqual([`after ${subtask}`]);
      await engine.close();
      await store.close();
      const durable = await primary.entries(id, { from: 1, limit: 1_000 });
      expect(durable.map(({ data }) => data).join("")).toContain(subtask.toUpperCase());
      const fast = await opened();
      expect(await fast.store.entries(id, { from: 1, limit: 1_000 })).toEqual(durable);
      expect(fast.counts.entries).toBe(0);
      await fast.store.close();
    }
  });
});
