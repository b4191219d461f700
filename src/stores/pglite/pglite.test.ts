import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServerClock } from "../../../test/support/postgres-clock.ts";
import { accepted, creation, step, storeConformance } from "../../testing/conformance/index.ts";
import { openPgliteStore, type PgliteDatabase, type PgliteQueryable } from "./index.ts";

const clock = {
  time: 1_800_000_000_000,
  now: () => clock.time,
  advance: (ms: number) => {
    clock.time += ms;
  },
};

/** One database for all cases, because creating one takes seconds. Each case leaves it empty. */
const db = new PGlite();
beforeAll(() => db.waitReady);
afterAll(() => db.close());

/** Replaces PostgreSQL's clock with this one. */
const timed = (one: PgliteQueryable): PgliteQueryable => ({
  query: async (text, values, options) =>
    one.query(await new ServerClock(clock, (set) => one.query(set)).text(text), values ?? [], options ?? {}),
});

const timedDb: PgliteDatabase = {
  ...timed(db),
  waitReady: db.waitReady,
  transaction: (work) => db.transaction((one) => work(timed(one))),
  close: () => db.close(),
};

const open = () => openPgliteStore({ db: timedDb });

storeConformance(
  {
    name: "pglite",
    open,
    reopen: open,
    clock,
    destroy: async () => {
      for (const table of ["runs", "journal", "blobs", "store_documents"])
        await db.query(`DELETE FROM holdfast.${table}`);
    },
  },
  { describe, it },
);

describe("a store on a PGlite that was brought along", () => {
  it("leaves it open, and keeps to its own schema", async () => {
    const store = await openPgliteStore({ db, schema: "mine" });
    await accepted(store, creation());
    await store.close();
    const { rows } = await db.query<{ count: number }>("SELECT count(*) FROM mine.runs");
    expect(rows).toEqual([{ count: 1 }]);
  });

  it("says that nothing survives where it is in memory only", async () => {
    const store = await openPgliteStore({ db, schema: "mine" });
    expect(store.capabilities).toMatchObject({ durability: "none", transactions: "async" });
    await store.close();
  });

  it("lets what is under way finish before it closes", async () => {
    const store = await openPgliteStore({ db, schema: "mine" });
    const row = await accepted(store, creation({ run: { id: "closing" } }));
    const results = store.append([step(row)]);
    await store.close();
    expect(await results).toEqual([{ ok: true }]);
  });

  it("keeps the values of a statement out of its errors", async () => {
    const failing: PgliteDatabase = {
      ...timedDb,
      transaction: db.transaction.bind(db),
      query: (text, values, options) =>
        db.query(text.replace("append_many", "append_nowhere"), values ?? [], options ?? {}),
    };
    const store = await openPgliteStore({ db: failing, schema: "mine" });
    const secret = { entry: { data: '"my secret"' } };
    const failure = await store.append([creation(secret)]).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "HoldfastError", cause: { code: expect.any(String) } });
    expect(JSON.stringify((failure as Error).cause)).not.toContain("my secret");
    await store.close();
  });
});

describe("opening a PGlite store", () => {
  it("needs a folder or a PGlite, and not both", async () => {
    for (const options of [{}, { folder: "" }, { folder: "x", db }])
      await expect(openPgliteStore(options)).rejects.toMatchObject({ code: "HF-1003" });
  });
});
