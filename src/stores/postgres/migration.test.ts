import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import type { Store } from "../../core/store/contract.ts";
import { accepted, creation, step } from "../../testing/conformance/index.ts";
import { type Database, onPool, type Queryable } from "./queryable.ts";
import { PostgresStore } from "./store.ts";

const server = await sharedPostgres();
const schema = `migration-${process.pid}`;
const RUNS = 10_000;

const pool = new pg.Pool({ connectionString: server.url, max: 12 });
pool.on("connect", (client) => void client.on("error", () => undefined));
const rows = async (text: string) => (await pool.query(text)).rows;
const version = async () => (await rows(`SELECT value FROM "${schema}".meta WHERE key = 'schema'`))[0]?.value;
const functions = async () =>
  (await rows(`SELECT proname FROM pg_proc WHERE pronamespace = '"${schema}"'::regnamespace ORDER BY 1`)).map(
    ({ proname }) => proname,
  );

/** Ends its own connection before the given statement of a migration, as the death of its process would. */
function struckAt(strike: number, seen: () => void = () => undefined): Database {
  const inner = onPool(pool, { timeoutMs: 30_000, end: async () => undefined });
  let statements = 0;
  const struck = (one: Queryable): Queryable => ({
    ...one,
    query: async (text, values) => {
      seen();
      if (++statements === strike) await one.query("SELECT pg_terminate_backend(pg_backend_pid())");
      return one.query(text, values);
    },
  });
  return { ...inner, transaction: (work) => inner.transaction((one) => work(struck(one))) };
}

const open = async (database: Database): Promise<Store> => {
  const store = new PostgresStore({ database, schema, create: true, logger: { warn: () => undefined } });
  await store.identity();
  return store;
};

/** Takes away what schema version 6 has added. */
async function backTo5(): Promise<void> {
  await pool.query(`DROP FUNCTION "${schema}".append_one, "${schema}".append_many;
    UPDATE "${schema}".meta SET value = '5' WHERE key = 'schema'`);
}

describe.skipIf(server.url === undefined)("a PostgreSQL schema of version 5 with 10,000 runs", () => {
  let steps = 0;
  beforeAll(async () => {
    const store = await open(struckAt(0));
    for (let n = 0; n < RUNS; n += 1_000)
      await store.append(Array.from({ length: 1_000 }, (_, i) => creation({ run: { id: `run-${n + i}` } })));
    await backTo5();
    await open(struckAt(0, () => steps++));
    expect([await version(), await functions()]).toEqual(["6", ["append_many", "append_one"]]);
    await backTo5();
  });
  afterAll(async () => {
    await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    await pool.end();
  });

  it("is left as it was by a process that dies before any statement of the migration (C14)", async () => {
    expect(steps).toBeGreaterThan(8);
    for (let strike = 1; strike <= steps; strike++) {
      await expect(open(struckAt(strike)), `statement ${strike}`).rejects.toMatchObject({ code: "HF-3002" });
      expect([await version(), await functions()], `statement ${strike}`).toEqual(["5", []]);
    }
  });

  it("is brought forward once by several servers that start at once, some of which die (C14)", async () => {
    const strikes = [4, 0, 6, 0, 0, 0];
    const opened = await Promise.allSettled(strikes.map((strike) => open(struckAt(strike))));
    expect(opened.map(({ status }, i) => strikes[i] === 0 && status === "rejected")).not.toContain(true);
    expect([await version(), await functions()]).toEqual(["6", ["append_many", "append_one"]]);
    expect(await rows(`SELECT count(*)::int AS n FROM "${schema}".runs`)).toEqual([{ n: RUNS }]);
    const store = await open(struckAt(0));
    const before = await store.read("run-7");
    expect((await accepted(store, step(before as NonNullable<typeof before>))).seq).toBe(2);
  });
});
