import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import { createEngine, workflow } from "../../index.ts";
import { openPostgresStore, type PostgresPool } from "./index.ts";

const server = await sharedPostgres();
const schema = `counts-${process.pid}`;
const pool = new pg.Pool({ connectionString: server.url, max: 5 });
afterAll(async () => {
  await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

const flow = workflow("steps", async (ctx, count: number) => {
  for (let n = 0; n < count; n++) await ctx.step("step", () => "x".repeat(2048));
  return "done";
});

/** A look at one run. Sweeps select the same columns of runs that are due, and come when they please. */
const ROW = /^SELECT run\.identity[^]* WHERE id = \$1$/;

/** Statements about runs, by what they are. Documents of the store are read on their own schedule. */
function counting(behindPooler = false): {
  readonly pool: PostgresPool;
  readonly take: () => Record<string, number>;
} {
  let seen: Record<string, number> = {};
  const note = (text: string): void => {
    const [what] =
      /append_one|append_many|append_limited|^BEGIN|SELECT entry\.seq|^WITH taken/.exec(text) ?? [];
    const kind = ROW.test(text.trim()) ? "look" : what === "WITH taken" ? "step" : what;
    if (kind !== undefined) seen[kind] = (seen[kind] ?? 0) + 1;
  };
  const on = <T extends Pick<PostgresPool, "query">>(target: T): Pick<PostgresPool, "query"> => ({
    query: (config) => {
      note(config.text);
      return target.query(config);
    },
  });
  const inner = pool as unknown as PostgresPool;
  return {
    pool: {
      ...on(inner),
      connect: async () => {
        const client = await inner.connect();
        const release: typeof client.release = (error) => client.release(error);
        return { ...on(client), release, processID: behindPooler ? 0 : (client.processID ?? 0) };
      },
    },
    take: () => [seen, (seen = {})][0] as Record<string, number>,
  };
}

describe.skipIf(server.url === undefined)("the identity of a store on PostgreSQL", () => {
  it("is asked for in one statement once the store is open, because workers ask before they take runs", async () => {
    let asked = 0;
    const inner = pool as unknown as PostgresPool;
    const counted: PostgresPool = {
      query: (config) => (asked++, inner.query(config)),
      connect: () => (asked++, inner.connect()),
    };
    const store = await openPostgresStore({ pool: counted, schema });
    const identity = await store.identity();
    asked = 0;
    expect(await store.identity()).toEqual(identity);
    expect(asked).toBe(1);
    await store.close();
  });

  it("is that of a new store when the schema was dropped and may be created", async () => {
    const again = `${schema}-again`;
    const store = await openPostgresStore({ pool: pool as unknown as PostgresPool, schema: again });
    const before = await store.identity();
    await pool.query(`DROP SCHEMA "${again}" CASCADE`);
    const after = await store.identity();
    expect(after.incarnation).not.toBe(before.incarnation);
    expect(await store.identity()).toEqual(after);
    await store.close();
    await pool.query(`DROP SCHEMA "${again}" CASCADE`);
  });
});

describe.skipIf(server.url === undefined)("the statements of a run on PostgreSQL", () => {
  const begin = async (behindPooler = false) => {
    const counted = counting(behindPooler);
    const store = await openPostgresStore({ pool: counted.pool, schema });
    // Sweeps and renewals are the same however many steps there are, so they are kept out of the count.
    const engine = createEngine({ store, workflows: [flow], sweepMs: 3_600_000, claimMs: 3_600_000 });
    await engine.result((await engine.start(flow, 1)).id);
    counted.take();
    return { engine, take: counted.take, close: async () => (await engine.close(), store.close()) };
  };

  it.each([
    ["", false, { append_many: 1, step: 9, append_one: 1 }],
    [" behind a pooler, by functions alone", true, { append_many: 1, append_one: 10 }],
  ])(
    "are one for each flush%s, and the journal is not read to learn how it ends",
    async (_, isBehind, appends) => {
      const { engine, take, close } = await begin(isBehind);
      const before = engine.flushes;
      const { id } = await engine.start(flow, 10);
      expect(await engine.result(id)).toBe("done");
      const { look: looks = 0, ...others } = take();
      expect(engine.flushes - before).toBe(11);
      // A run that is advanced here isn't read; one that has ended before its caller asks is, once.
      expect(looks).toBeLessThanOrEqual(1);
      expect(others).toEqual(appends);
      await engine.result(id);
      expect(take()["look"]).toBe(1);
      await close();
    },
  );

  it("include one for a claim that has limits, which holds its queue up for no longer than that", async () => {
    const counted = counting();
    const store = await openPostgresStore({ pool: counted.pool, schema });
    const engine = createEngine({
      store,
      workflows: [flow],
      queues: { orders: { concurrency: 1, perKey: 1 } },
      claimMs: 3_600_000,
    });
    const { id } = await engine.start(flow, 1, { queue: "orders", key: "a" });
    expect(await engine.result(id)).toBe("done");
    const { append_limited: claims = 0, BEGIN: transactions = 0 } = counted.take();
    expect({ claims, transactions }).toEqual({ claims: 1, transactions: 0 });
    await engine.close();
    await store.close();
  });

  it("are shared by the runs that write at the same time", async () => {
    const { engine, take, close } = await begin();
    const before = engine.flushes;
    const runs = await Promise.all(Array.from({ length: 50 }, () => engine.start(flow, 10)));
    await Promise.all(runs.map(({ id }) => engine.result(id)));
    const { step = 0, append_one: one = 0, append_many: shared = 0, look: looks = 0, ...others } = take();
    const single = step + one;
    expect(single + shared).toBe(engine.flushes - before);
    // 0.1 a step would be 50.
    expect(single + shared).toBeLessThanOrEqual(50);
    expect(looks).toBeLessThanOrEqual(runs.length);
    expect(others).toEqual({});
    await close();
  });
});
