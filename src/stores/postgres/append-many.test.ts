import pg from "pg";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import type { Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { accepted, creation, step } from "../../testing/conformance/index.ts";
import { openPostgresStore, type PostgresPool } from "./index.ts";

const server = await sharedPostgres();
const schema = `many-${process.pid}`;
const admin = new pg.Pool({ connectionString: server.url, max: 3 });
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await admin.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
});
afterAll(() => admin.end());

/** A store on one connection whose server tells how it executes what is sent, and statements within functions. */
async function lab() {
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query(`LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_timing = off;
    SET auto_explain.log_nested_statements = on; SET client_min_messages = log`);
  const plans: string[] = [];
  client.on("notice", ({ message }) => void plans.push(message ?? ""));
  const pool: PostgresPool = {
    query: (config) => client.query(config),
    connect: async () => ({ query: (config) => client.query(config), release: () => undefined }),
  };
  const store = await openPostgresStore({ pool, schema });
  ends.push(
    () => client.end(),
    () => store.close(),
  );
  const updates = () => plans.splice(0).filter((plan) => plan.includes("Update on runs"));
  return { store, updates };
}

const born = async (store: Store, ids: readonly string[]): Promise<RunRow[]> => {
  const rows: RunRow[] = [];
  for (const id of ids) rows.push(await accepted(store, creation({ run: { id } })));
  return rows;
};

/** Appends a step to each of these, and returns the rows after it. */
async function stepped(store: Store, rows: readonly RunRow[]): Promise<RunRow[]> {
  const answers = await store.append(rows.map((row) => step(row)));
  expect(answers).toEqual(rows.map(() => ({ ok: true })));
  return Promise.all(rows.map(async ({ id }) => (await store.read(id)) as RunRow));
}

const IDS = ["run-c", "run-a", "run-b"];

describe.skipIf(server.url === undefined)("appends of several runs on PostgreSQL", () => {
  it("are one UPDATE that finds each run by its id, in order, however small the table is", async () => {
    const { store, updates } = await lab();
    let rows = await born(store, IDS);
    // The server has seen how small it is, and the plan is made anew.
    await admin.query(`ANALYZE "${schema}".runs`);
    updates();
    // More than the five times for which the server plans with the values.
    for (let n = 0; n < 8; n++) {
      rows = await stepped(store, rows);
      const [plan = "", ...others] = updates();
      expect(others).toEqual([]);
      expect(plan).toMatch(
        /Nested Loop.*\n\s+->\s+Function Scan on [^]*->\s+Index Scan using runs_by_id on runs/,
      );
      expect(plan).not.toMatch(/Seq Scan|Hash|Merge|Sort/);
    }
  });

  it("are each judged by themselves where one is refused, which is neither locked nor tried again", async () => {
    const { store, updates } = await lab();
    const rows = await born(store, IDS);
    const [stale] = rows as [RunRow];
    const moved = await accepted(store, step(stale));
    updates();
    const changes = [stale, rows[2] as RunRow].map((row) => step(row));
    const creations = ["run-d", "run-a"].map((id) => creation({ run: { id } }));
    const answers = await store.append([...changes, ...creations]);
    expect(answers).toEqual([
      { ok: false, reason: "conflict", row: moved },
      { ok: true },
      { ok: true },
      { ok: false, reason: "exists", row: await store.read("run-a") },
    ]);
    expect(updates()).toHaveLength(1);
  });

  it("do not wait for a run of which they learn that it has moved on", async () => {
    const { store } = await lab();
    const rows = await born(store, IDS);
    const moved = await accepted(store, step(rows[1] as RunRow));
    const other = await admin.connect();
    await other.query("BEGIN");
    await other.query(`SELECT FROM "${schema}".runs WHERE id = 'run-a' FOR UPDATE`);
    const answers = await store.append(rows.map((row) => step(row)));
    expect(answers).toEqual([{ ok: true }, { ok: false, reason: "conflict", row: moved }, { ok: true }]);
    await other.query("ROLLBACK");
    other.release();
  });

  it("wait for who writes one of the runs, and then judge it as it is", async () => {
    const { store } = await lab();
    const rows = await born(store, IDS);
    const other = await admin.connect();
    await other.query("BEGIN");
    await other.query(`UPDATE "${schema}".runs SET seq = 7 WHERE id = 'run-a'`);
    await other.query(`UPDATE "${schema}".runs SET owner = 'b' WHERE id = 'run-b'`);
    const waiting = store.append(rows.map((row) => step(row)));
    await expect
      .poll(async () => (await admin.query("SELECT FROM pg_locks WHERE NOT granted")).rowCount, {
        timeout: 20_000,
      })
      .toBeGreaterThan(0);
    await other.query("COMMIT");
    other.release();
    expect(await waiting).toMatchObject([
      { ok: true },
      { reason: "conflict", row: { seq: 7 } },
      { ok: true },
    ]);
    expect(await store.read("run-b")).toMatchObject({ seq: (rows[2] as RunRow).seq + 1 });
  });
});
