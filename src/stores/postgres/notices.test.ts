import pg from "pg";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { startPgbouncer } from "../../../test/support/services/pgbouncer.ts";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import type { Store } from "../../core/store/contract.ts";
import { createEngine, type Engine, workflow } from "../../index.ts";
import { accepted, creation } from "../../testing/conformance/index.ts";
import { openPostgresStore, type PostgresOptions } from "./index.ts";

const server = await sharedPostgres();
const bouncer = server.url === undefined ? "there is no server" : await startPgbouncer(server.url);
const schema = `notices-${process.pid}`;
const admin = new pg.Pool({ connectionString: server.url, max: 1 });
afterAll(async () => {
  await admin.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await admin.end();
  if (typeof bouncer === "object") await bouncer.stop();
});

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const openStore = async (options: PostgresOptions = {}): Promise<Store> => {
  const place = options.pool ? {} : { connectionString: server.url as string };
  const store = await openPostgresStore({ ...place, schema, ...options });
  open.push(store);
  return store;
};

const asking = workflow("asking", async (ctx) => {
  const { choice } = await ctx.gate("go", { choices: ["on", "off"] });
  return ctx.step("after", () => choice);
});
const waiting = workflow("waiting", async (ctx) => {
  await ctx.step("first", () => 1);
  return (await ctx.signal("news")).payload;
});

/** An engine that looks for news of others by itself only once an hour. */
const engineOn = (store: Store, workflows: Parameters<typeof createEngine>[0]["workflows"] = []): Engine => {
  const engine = createEngine({ store, workflows, sweepMs: 3_600_000, claimMs: 3_600_000 });
  open.push(engine);
  return engine;
};

/** Resolves when the store hears something, at the latest when it has begun to listen. */
const heard = (store: Store): Promise<void> =>
  new Promise((resolve) => {
    const stop = store.hear?.(() => {
      stop?.();
      resolve();
    });
  });

describe.skipIf(server.url === undefined)("notices between processes on PostgreSQL", () => {
  it("let an idle worker take up an answered run, and its caller elsewhere hear of the end, without polling", async () => {
    const [theirs, ours] = [await openStore(), await openStore()];
    const worker = engineOn(theirs, [asking]);
    const caller = engineOn(ours);
    const { id } = await worker.start(asking, undefined);
    await worker.settled(id);
    await caller.get(id);
    const listening = heard(ours);
    const result = caller.result(id);
    await listening;
    await caller.answer(id, "go", { choice: "on" });
    expect(await result).toBe("on");
  });

  it("let a worker hear at once of a signal to a run that it holds", async () => {
    const worker = engineOn(await openStore(), [waiting]);
    const caller = engineOn(await openStore());
    const { id } = await worker.start(waiting, undefined);
    await worker.settled(id);
    await caller.signal(id, "news", "late");
    expect(await worker.result(id)).toBe("late");
  });

  it("are heard again after the connection was lost", async () => {
    const [theirs, ours] = [await openStore(), await openStore()];
    await heard(ours);
    const again = heard(ours);
    await admin.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast listener' AND query LIKE $1",
      [`%${schema}%`],
    );
    await again;
    const told = new Promise<readonly string[]>((resolve) => {
      ours.hear?.(({ runs }) => (runs && runs.length > 0 ? resolve(runs) : undefined));
    });
    await accepted(theirs, creation({ run: { id: "told" }, claim: { kind: "release" } }));
    expect(await told).toEqual(["told"]);
  });

  it("are never needed: a store that can't listen says nothing and works", async () => {
    const pool = new pg.Pool({ connectionString: server.url, max: 1 });
    const places: PostgresOptions[] = [
      { listen: false },
      { listen: "postgresql://nobody@127.0.0.1:1/x" },
      { pool },
    ];
    if (typeof bouncer === "object") places.push({ connectionString: bouncer.url });
    for (const options of places) {
      const engine = engineOn(await openStore(options), [asking]);
      const { id } = await engine.start(asking, undefined);
      await engine.settled(id);
      await engine.answer(id, "go", { choice: "on" });
      expect(await engine.result(id)).toBe("on");
    }
    for (const one of open.splice(0).reverse()) await one.close();
    await pool.end();
  });

  it("refuse an option that can't be honoured", async () => {
    for (const listen of [true, 7] as unknown as boolean[])
      await expect(openPostgresStore({ pool: admin, listen })).rejects.toMatchObject({ code: "HF-1003" });
  });
});
