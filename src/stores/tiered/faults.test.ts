import pg from "pg";
import { createClient } from "redis";
import { afterAll, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import { type RedisServer, startRedis } from "../../../test/support/services/redis.ts";
import { missing } from "../../../test/support/services/service.ts";
import type { Store } from "../../core/store/contract.ts";
import { createEngine, workflow } from "../../index.ts";
import { openPostgresStore } from "../postgres/index.ts";
import { openRedisCache } from "../redis/index.ts";
import { createTieredStore } from "./index.ts";

/** This test empties and kills the server, so it has its own. */
const server = (await startRedis()) as RedisServer;
const postgres = await sharedPostgres();
if (!server) missing("Redis", "it is not installed");

const schema = `tiered-faults-${process.pid}`;
const pool = new pg.Pool({ connectionString: postgres.url, max: 8 });
afterAll(async () => {
  if (postgres.url !== undefined) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
  await server?.remove();
});

const ROUNDS = 6;
const RUNS = 8;
const STEPS = 12;

describe.skipIf(!server || postgres.url === undefined)(
  "a cache that is emptied, killed and started again",
  () => {
    it("makes no difference to what engines do", { timeout: 120_000 }, async () => {
      const calls = new Map<string, number>();
      const counting = workflow("counting", async (ctx, from: number) => {
        const seen: number[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          for (let i = 0; i < STEPS; i++)
            seen.push(
              await ctx.step(`${round}.${i}`, async () => {
                const name = `${from}/${round}.${i}`;
                calls.set(name, (calls.get(name) ?? 0) + 1);
                return from + round * STEPS + i;
              }),
            );
          await ctx.signal(`round ${round}`);
        }
        return seen;
      });
      const opened = async (): Promise<Store> =>
        createTieredStore({
          primary: await openPostgresStore({ pool, schema }),
          cache: openRedisCache({ url: server.url }),
          patienceMs: 50,
        });
      const ids = Array.from({ length: RUNS }, (_, i) => `counting-${i}`);
      const waiting = async (store: Store, round: number): Promise<boolean> => {
        const rows = await Promise.all(ids.map((id) => store.read(id)));
        return rows.every((row) => row?.waiting.some(({ names }) => names?.includes(`round ${round}`)));
      };
      const admin = createClient({ url: server.url });
      admin.on("error", () => undefined);
      await admin.connect();
      let results: unknown[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        // Each round acts as a new process: it knows about the runs only what the stores tell it.
        const store = await opened();
        const engine = createEngine({ store, workflows: [counting] });
        if (round === 0) for (const [i, id] of ids.entries()) await engine.start(counting, i * 1000, { id });
        else for (const id of ids) await engine.signal(id, `round ${round - 1}`, undefined);
        if (round === 1) await admin.flushAll();
        if (round === 2) await server.stop("SIGKILL");
        if (round === 3) await server.start();
        if (round === 4)
          await Promise.all([admin.flushAll(), server.stop("SIGKILL").then(() => server.start())]).catch(
            () => undefined,
          );
        await expect.poll(() => waiting(store, round), { timeout: 30_000 }).toBe(true);
        if (round === ROUNDS - 1) {
          for (const id of ids) await engine.signal(id, `round ${round}`, undefined);
          results = await Promise.all(ids.map((id) => engine.result(id)));
        }
        await engine.close();
        await store.close();
      }
      admin.destroy();
      expect(results).toEqual(
        ids.map((_, i) => Array.from({ length: ROUNDS * STEPS }, (_unused, n) => i * 1000 + n)),
      );
      expect(calls.size).toBe(RUNS * ROUNDS * STEPS);
      expect([...new Set(calls.values())]).toEqual([1]);
    });
  },
);
