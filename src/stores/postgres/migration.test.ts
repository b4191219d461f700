import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import type { Store } from "../../core/store/contract.ts";
import { accepted, creation, step } from "../../testing/conformance/index.ts";
import { appendFunctions } from "./functions.ts";
import { onPool } from "./pool.ts";
import type { Database, Queryable } from "./queryable.ts";
import { PostgresStore } from "./store.ts";

const server = await sharedPostgres();
const schema = `migration-${process.pid}`;
const RUNS = 10_000;

const pool = new pg.Pool({ connectionString: server.url, max: 12 });
pool.on("connect", (client) => void client.on("error", () => undefined));
const rows = async (text: string) => (await pool.query(text)).rows;
const version = async () => (await rows(`SELECT value FROM "${schema}".meta WHERE key = 'schema'`))[0]?.value;
/** The functions, with what they set. */
const functions = async () =>
  (
    await rows(`SELECT concat_ws(' ', proname, array_to_string(proconfig, ' ')) AS made
      FROM pg_proc WHERE pronamespace = '"${schema}"'::regnamespace ORDER BY proname`)
  ).map(({ made }) => made);

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

const FUNCTIONS = ["append_limited", "append_many enable_seqscan=off", "append_one"];

/**
 * The functions of earlier versions. Version 6 added the first two, version 7 the one that claims with limits, and version
 * 8 writes `append_many` anew.
 */
const HAD: Readonly<Record<string, readonly string[]>> = {
  5: [],
  6: ["append_many", "append_one"],
  7: ["append_limited", "append_many", "append_one"],
};

/** Takes away what later schema versions have added. */
async function backTo(from: string): Promise<void> {
  for (const name of ["append_limited", "append_many", "append_one"])
    if (!HAD[from]?.includes(name)) await pool.query(`DROP FUNCTION "${schema}".${name}`);
  const [, many = ""] = appendFunctions(`"${schema}".`);
  if (HAD[from]?.includes("append_many"))
    await pool.query(many.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"));
  await pool.query(`UPDATE "${schema}".meta SET value = '${from}' WHERE key = 'schema'`);
}

describe.skipIf(server.url === undefined)(
  "a PostgreSQL schema of an earlier version with 10,000 runs",
  () => {
    const least: Readonly<Record<string, number>> = { 5: 8, 6: 5, 7: 5 };
    const steps: Record<string, number> = {};
    beforeAll(async () => {
      const store = await open(struckAt(0));
      for (let n = 0; n < RUNS; n += 1_000)
        await store.append(
          Array.from({ length: 1_000 }, (_, i) => creation({ run: { id: `run-${n + i}` } })),
        );
      for (const from of Object.keys(HAD)) {
        await backTo(from);
        await open(struckAt(0, () => void (steps[from] = (steps[from] ?? 0) + 1)));
        expect([await version(), await functions()], from).toEqual(["8", FUNCTIONS]);
      }
    });
    afterAll(async () => {
      await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      await pool.end();
    });

    it.each(Object.keys(HAD))(
      "is left as it was by a process that dies before any statement of the migration, version %s (C14)",
      async (from) => {
        await backTo(from);
        expect(steps[from]).toBeGreaterThan(least[from] as number);
        for (let strike = 1; strike <= (steps[from] as number); strike++) {
          const dead = `statement ${strike}`;
          await expect(open(struckAt(strike)), dead).rejects.toMatchObject({ code: "HF-3002" });
          expect([await version(), await functions()], dead).toEqual([from, HAD[from]]);
        }
        await open(struckAt(0));
      },
    );

    it("is brought forward once by several servers that start at once, some of which die (C14)", async () => {
      await backTo("5");
      const strikes = [4, 0, 6, 0, 0, 0];
      const opened = await Promise.allSettled(strikes.map((strike) => open(struckAt(strike))));
      expect(opened.map(({ status }, i) => strikes[i] === 0 && status === "rejected")).not.toContain(true);
      expect([await version(), await functions()]).toEqual(["8", FUNCTIONS]);
      expect(await rows(`SELECT count(*)::int AS n FROM "${schema}".runs`)).toEqual([{ n: RUNS }]);
      const store = await open(struckAt(0));
      const before = await store.read("run-7");
      expect((await accepted(store, step(before as NonNullable<typeof before>))).seq).toBe(2);
    });
  },
);
