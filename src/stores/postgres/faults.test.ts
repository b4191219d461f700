import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type PostgresServer, startPostgres } from "../../../test/support/services/postgres.ts";
import { missing } from "../../../test/support/services/service.ts";
import { startProxy, type TcpProxy } from "../../../test/support/services/tcp-proxy.ts";
import type { Append, Store } from "../../core/store/contract.ts";
import { createEngine, workflow } from "../../index.ts";
import { accepted, creation, everythingOf, step } from "../../testing/conformance/index.ts";
import { openPostgresStore, type PostgresOptions } from "./index.ts";

/** These tests stop the server, crash it and change its settings, so they have their own. */
const server = (await startPostgres()) as PostgresServer;
if (!server) missing("PostgreSQL", "it is not installed");

const onServer = describe.skipIf(!server);
let proxy: TcpProxy;
let admin: pg.Pool;
let count = 0;
const opened: Store[] = [];

beforeAll(async () => {
  if (!server) return;
  proxy = await startProxy(server.port);
  admin = new pg.Pool({ connectionString: server.url });
  admin.on("error", () => undefined);
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
afterAll(async () => {
  if (!server) return;
  await admin.end();
  await proxy.close();
  await server.remove();
});

async function open(options: Partial<PostgresOptions> = {}): Promise<Store & { schema: string }> {
  const schema = options.schema ?? `t${++count}`;
  const place = options.pool ? {} : { connectionString: server.url };
  const store = await openPostgresStore({ ...place, ...options, schema });
  opened.push(store);
  return Object.assign(store, { schema });
}

/** Locks all runs until `free` is called, and can wait until another session is blocked by the locks. */
async function lockRuns(schema: string) {
  const client = await admin.connect();
  await client.query(`BEGIN; SELECT 1 FROM ${schema}.runs FOR UPDATE`);
  const waiting = async (many: number): Promise<number[]> => {
    for (;;) {
      const { rows } = await admin.query("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
      if (rows.length >= many) return rows.map(({ pid }) => pid);
    }
  };
  const free = async () => {
    await client.query("COMMIT");
    client.release();
  };
  return { waiting, free };
}

/** Checks the outcome of an append as the engine does: by the entry at its position. */
async function hasLanded(store: Store, { run, entries }: Append): Promise<boolean> {
  const last = entries.at(-1);
  const [found] = await store.entries(run.id, { from: last?.seq ?? 0, limit: 1 });
  return found?.seq === last?.seq && found?.head === last?.head;
}

onServer("an append whose answer does not come", () => {
  it("was not taken when its connection was killed before it could commit", async () => {
    const store = await open();
    const append = step(await accepted(store, creation()));
    const locks = await lockRuns(store.schema);
    const pending = store.append([append]).catch((error: unknown) => error);
    for (const pid of await locks.waiting(1)) await admin.query("SELECT pg_terminate_backend($1)", [pid]);
    expect(await pending).toMatchObject({ code: "HF-3002" });
    await locks.free();
    expect(await hasLanded(store, append)).toBe(false);
    await accepted(store, append);
  });

  it("was taken when only the answer was lost", async () => {
    const there = new URL(server.url);
    there.port = String(proxy.port);
    // Without notices, whose answers could be the ones that are lost.
    const store = await open({ connectionString: there.href, listen: false });
    const row = await accepted(store, creation());
    for (const batch of [[step(row)], [step({ ...row, seq: 2 }), creation({ run: { id: "other" } })]]) {
      proxy.loseNextAnswer();
      await expect(store.append(batch)).rejects.toMatchObject({ code: "HF-3002" });
      for (const append of batch) await expect.poll(() => hasLanded(store, append)).toBe(true);
      const again = await store.append(batch);
      expect(again.map((result) => (result.ok ? "taken" : result.reason))).not.toContain("taken");
    }
    expect((await everythingOf(store, row.id)).entries.length).toBe(3);
  });

  it("may still be taken after its time was up, and is then found by its head", async () => {
    const store = await open({ timeoutMs: 300 });
    const append = step(await accepted(store, creation()));
    const locks = await lockRuns(store.schema);
    await expect(store.append([append])).rejects.toMatchObject({ code: "HF-3002" });
    const patient = await open({ schema: store.schema });
    const again = patient.append([append]);
    await locks.waiting(2);
    await locks.free();
    expect(await again).toMatchObject([{ ok: false, reason: "conflict", row: { seq: 2 } }]);
    expect(await hasLanded(store, append)).toBe(true);
  });

  it("is looked up by the engine, which calls nothing twice", async () => {
    const there = new URL(server.url);
    there.port = String(proxy.port);
    const store = await open({ connectionString: there.href });
    const calls: string[] = [];
    const trip = workflow("trip", async (ctx) => {
      for (const name of ["book", "pay", "pack"])
        await ctx.step(name, async () => {
          calls.push(name);
          proxy.loseNextAnswer();
        });
      return "gone";
    });
    const engine = createEngine({ store, workflows: [trip], holdMs: 60_000 });
    const run = await engine.start(trip, undefined);
    expect(await engine.result(run.id)).toBe("gone");
    expect(calls).toEqual(["book", "pay", "pack"]);
    expect((await store.read(run.id))?.stepsDone).toBe(3);
    await engine.close();
  });
});

onServer("a server that crashes", () => {
  it("has everything that was acknowledged when it comes back, and the same store goes on", async () => {
    const store = await open();
    let row = await accepted(store, creation());
    for (let i = 0; i < 20; i++) row = await accepted(store, step(row));
    await server.stop("immediate");
    await expect(store.append([step(row)])).rejects.toMatchObject({ code: "HF-3002" });
    await expect(store.read(row.id)).rejects.toMatchObject({ code: "HF-3002" });
    await server.start();
    expect(await store.read(row.id)).toEqual(row);
    await accepted(store, step(row));
  });
});

onServer("a server's settings", () => {
  it("do not keep an append from being flushed", async () => {
    // Turns off all other flushing, so that everything on disk was put there by a commit.
    await admin.query("ALTER SYSTEM SET wal_writer_delay = '10s'");
    await server.stop();
    await server.start();
    const pool = new pg.Pool({ connectionString: server.url, max: 1, options: "-c synchronous_commit=off" });
    const store = await open({ pool });
    const row = await accepted(store, creation());
    await pool.query("CREATE TABLE beside (n integer)");
    const isFlushed = async (position: string): Promise<boolean> =>
      (await admin.query("SELECT $1::pg_lsn <= pg_current_wal_flush_lsn() AS yes", [position])).rows[0].yes;
    const [before, after]: [boolean[], boolean[]] = [[], []];
    for (let seq = 1; seq <= 40; seq += 4) {
      await pool.query("INSERT INTO beside VALUES (1)");
      const { rows } = await admin.query("SELECT pg_current_wal_insert_lsn() AS position");
      before.push(await isFlushed(rows[0].position));
      const next = Array.from({ length: 4 }, (_, i) => step({ ...row, seq: seq + i }));
      for (const batch of seq % 8 === 1 ? next.map((one) => [one]) : [next]) await store.append(batch);
      after.push(await isFlushed(rows[0].position));
    }
    expect(before).toContain(false);
    expect(after).not.toContain(false);
    expect((await store.read(row.id))?.seq).toBe(41);
    await pool.end();
  });

  it("lower what the store promises when the server does not sync", async () => {
    const warnings: unknown[] = [];
    const logger = { warn: (message: string, fields?: object) => void warnings.push([message, fields]) };
    await admin.query("ALTER SYSTEM SET fsync = off");
    await server.stop();
    await server.start();
    const store = await open({ logger });
    expect(store.capabilities).toMatchObject({ durability: "process", transactions: "async" });
    expect(JSON.stringify(warnings)).toContain("fsync off");
    await admin.query("ALTER SYSTEM RESET fsync");
    await server.stop();
    await server.start();
    expect((await open({ logger })).capabilities.durability).toBe("power-loss");
  });

  it("that make it a standby are refused", async () => {
    const { schema } = await open();
    await server.stop();
    const signal = path.join(server.folder, "data", "standby.signal");
    writeFileSync(signal, "");
    await server.start();
    await expect(open({ schema })).rejects.toMatchObject({ code: "HF-3022" });
    await server.stop();
    rmSync(signal);
    await server.start();
    await open({ schema });
  });
});
