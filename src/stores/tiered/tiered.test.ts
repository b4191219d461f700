import pg from "pg";
import { createClient } from "redis";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import { sharedRedis } from "../../../test/support/services/redis.ts";
import type { StoredRecord } from "../../core/records.ts";
import type { Append, Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { createEngine, workflow } from "../../index.ts";
import {
  accepted,
  anEntry,
  creation,
  everythingOf,
  outsideAct,
  step,
  storeConformance,
  take,
} from "../../testing/conformance/index.ts";
import { createMemoryStore } from "../memory.ts";
import { openPostgresStore } from "../postgres/index.ts";
import { openRedisCache } from "../redis/index.ts";
import { type Copy, copyOf, seal } from "./copy.ts";
import { createTieredStore, type TieredOptions } from "./index.ts";

const redis = await sharedRedis();
const postgres = await sharedPostgres();
const { url } = redis;
const admin = createClient(url === undefined ? {} : { url });
if (url !== undefined) await admin.connect();
const pool = new pg.Pool({ connectionString: postgres.url, max: 5 });
const schema = `tiered-${process.pid}`;
afterAll(async () => {
  if (postgres.url !== undefined) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
  if (url !== undefined) admin.destroy();
});

const clock = {
  time: 1_800_000_000_000,
  now: () => clock.time,
  advance: (ms: number) => {
    clock.time += ms;
  },
};

const cache = () => openRedisCache({ client: admin });
const opened: Store[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

/** A memory store that outlives its handles and counts its calls. */
function countedPrimary() {
  const inner = createMemoryStore();
  const asked = { reads: 0, entries: 0, blobs: 0 };
  const primary: Store = {
    ...inner,
    read: (runId) => (asked.reads++, inner.read(runId)),
    entries: (runId, range) => (asked.entries++, inner.entries(runId, range)),
    blobs: (runId, hashes) => (asked.blobs++, inner.blobs(runId, hashes)),
    close: async () => undefined,
  };
  return { primary, inner, asked };
}

async function open(primary: Store, options: Partial<TieredOptions> = {}): Promise<Store> {
  const store = createTieredStore({ primary, cache: cache(), ...options });
  opened.push(store);
  await store.identity();
  return store;
}

const keyOf = ({ id, workflow: of }: RunRow): string => `journal:${id}:${of}`;

/** Closing writes what is still to be written. */
async function saved(store: Store, row: RunRow): Promise<string> {
  await store.close();
  return (await admin.get(keyOf(row))) ?? "";
}

let count = 0;
const newId = (): string => `tiered-${process.pid}-${++count}`;

/** A chain as the engine builds it, so that appends can be matched to a copy. */
const linked = (row: RunRow, parts: Parameters<typeof step>[1] = {}): Append =>
  step(row, { ...parts, entry: { head: JSON.stringify({ p: row.head, v: [] }), ...parts.entry } });

if (url === undefined) {
  it.skip(`the tiered store (skipped: ${redis.missing})`, () => undefined);
} else {
  const skip = [{ behaviour: "reopening", reason: "the memory store forgets everything when it is closed" }];
  const onMemory = async () => createTieredStore({ primary: createMemoryStore({ clock }), cache: cache() });
  storeConformance({ name: "tiered (memory and Redis)", open: onMemory, clock, skip }, { describe, it });
  if (postgres.url === undefined) {
    it.skip(`the tiered store on PostgreSQL (skipped: ${postgres.missing})`, () => undefined);
  } else {
    const onPostgres = async () =>
      createTieredStore({ primary: await openPostgresStore({ pool, schema }), cache: cache() });
    const tables = ["runs", "journal", "blobs", "store_documents", "record_keys", "agent_checkpoints"]
      .map((table) => `DELETE FROM "${schema}".${table}`)
      .join("; ");
    const destroy = async () => void (await pool.query(tables));
    const name = "tiered (PostgreSQL and Redis)";
    storeConformance({ name, open: onPostgres, reopen: onPostgres, destroy }, { describe, it });
  }
}

describe.skipIf(url === undefined)("the newest checkpoint of an agent", () => {
  const analysis_id = "550e8400-e29b-41d4-a716-446655440000";
  const aRecord = (seq: number, progress_pct: number, agent_type: string): StoredRecord => {
    const working_memory = { filings: [`10-K ${seq}`] };
    const checkpoint_time = "2026-01-02T14:35:22.123Z";
    const row = {
      stock_ticker: "AAPL",
      agent_type,
      analysis_id,
      checkpoint_time,
      progress_pct,
      working_memory,
    };
    return { table: "agent_checkpoints", seq, row };
  };
  const kept = async (agent: string) => {
    const keys = [`checkpoint:${analysis_id}:${agent}`, `L1:${analysis_id}:${agent}:working`];
    return Promise.all(
      keys.map(async (key) => [JSON.parse((await admin.get(key)) || "null"), await admin.ttl(key)]),
    );
  };

  it("is in Redis with its working memory for seven days once it is saved (S0-26, S0-27, S0-41)", async () => {
    const store = await open(countedPrimary().primary);
    const row = await accepted(store, creation({ run: { id: newId() }, records: [aRecord(1, 20, "saved")] }));
    await accepted(store, step(row, { records: [aRecord(2, 40, "saved")] }));
    const [[checkpoint, ttl], [memory, memoryTtl]] = (await kept("saved")) as [
      [object, number],
      [object, number],
    ];
    expect(checkpoint).toMatchObject({
      stock_ticker: "AAPL",
      agent_type: "saved",
      analysis_id,
      progress_pct: 40,
    });
    expect(memory).toEqual({ filings: ["10-K 2"] });
    for (const seconds of [ttl, memoryTtl]) {
      expect(seconds).toBeGreaterThan(7 * 24 * 3600 - 60);
      expect(seconds).toBeLessThanOrEqual(7 * 24 * 3600);
    }
  });

  it("is the newest one left when others are dropped, and goes with the last", async () => {
    const store = await open(countedPrimary().primary);
    const row = await accepted(
      store,
      creation({ run: { id: newId() }, records: [aRecord(1, 20, "dropped")] }),
    );
    const after = await accepted(store, step(row, { records: [aRecord(2, 40, "dropped")] }));
    const drop = (records: number[]) => ({ drop: { entries: [], blobs: [], records } });
    const rest = await accepted(store, outsideAct(after, drop([2])));
    expect((await kept("dropped"))[0]?.[0]).toMatchObject({ progress_pct: 20 });
    await accepted(store, outsideAct(rest, drop([1])));
    expect((await kept("dropped")).map(([value]) => value)).toEqual([null, null]);
  });

  it("isn't shown when the primary has refused it, nor where the cache may keep nothing", async () => {
    const store = await open(countedPrimary().primary);
    const row = await accepted(store, creation({ run: { id: newId() } }));
    await store.append([outsideAct(row, { expect: { seq: 9 }, records: [aRecord(10, 1, "refused")] })]);
    store.setCacheTtl?.(() => 0);
    await accepted(store, step(row, { records: [aRecord(2, 2, "refused")] }));
    expect((await kept("refused")).map(([value]) => value)).toEqual([null, null]);
  });

  it("changes nothing for the store when the cache fails", async () => {
    const broken = {
      get: () => Promise.reject(new Error("down")),
      set: () => Promise.reject(new Error("down")),
    };
    const store = await open(countedPrimary().primary, {
      cache: { ...broken, close: async () => undefined },
    });
    await accepted(store, creation({ run: { id: newId() }, records: [aRecord(1, 20, "down")] }));
    expect((await kept("down")).map(([value]) => value)).toEqual([null, null]);
  });
});

describe.skipIf(url === undefined)("a copy in the cache", () => {
  /** A run of 60 entries and a blob, written through one tiered store. */
  async function written(primary: Store): Promise<{ row: RunRow; text: string }> {
    const store = await open(primary);
    const entries = Array.from({ length: 60 }, (_, i) => anEntry(i + 1));
    const blobs = [{ hash: "h", data: "long ".repeat(100) }];
    const row = await accepted(store, creation({ run: { id: newId() }, entries, blobs }));
    return { row, text: await saved(store, row) };
  }

  it("is under its run and workflow, for seven days", async () => {
    const { row } = await written(countedPrimary().primary);
    const seconds = await admin.ttl(`journal:${row.id}:orders`);
    expect(seconds).toBeGreaterThan(7 * 24 * 3600 - 60);
    expect(seconds).toBeLessThanOrEqual(7 * 24 * 3600);
  });

  it("stays as long as the retention policy says", async () => {
    const { primary } = countedPrimary();
    const steps = workflow("orders", async (ctx) => {
      for (let n = 0; n < 3; n++) await ctx.step(`s${n}`, () => n);
      // A completed run would be deleted, and its copy with it.
      await ctx.gate("approve", { choices: ["yes"] });
    });
    for (const [retention, most] of [
      ["seed0", 7 * 24 * 3600],
      [{ preset: "seed0", cacheTtl: "1h" }, 3600],
    ] as const) {
      const store = await open(primary);
      const engine = createEngine({ store, workflows: [steps], retention });
      const { id } = await engine.start(steps, undefined, { id: newId() });
      await engine.settled(id);
      await engine.close();
      await store.close();
      const seconds = await admin.ttl(`journal:${id}:orders`);
      expect(seconds).toBeGreaterThan(most - 60);
      expect(seconds).toBeLessThanOrEqual(most);
    }
  });

  it("does not keep what somebody drops who has no copy", async () => {
    const { primary, inner } = countedPrimary();
    const { row, text } = await written(primary);
    expect(text).toContain("long long");
    // The primary has moved without the cache, so the copy can't be brought up to date.
    const moved = await accepted(inner, linked(row));
    const other = await open(primary);
    const drop = { entries: [1, 2], blobs: ["h"] };
    await accepted(other, outsideAct(moved, { run: { prunedAt: 5 }, drop }));
    expect(await saved(other, row)).toBe("");
    expect(await admin.ttl(keyOf(row))).toBeLessThanOrEqual(1);
  });

  it("is loaded instead of the journal by another process", async () => {
    const { primary, inner, asked } = countedPrimary();
    const { row } = await written(primary);
    const other = await open(primary);
    asked.entries = 0;
    asked.blobs = 0;
    const all = await other.entries(row.id, { from: 1, limit: 1000 });
    expect(all).toEqual(await inner.entries(row.id, { from: 1, limit: 1000 }));
    expect(await other.entries(row.id, { from: 31, limit: 50 })).toEqual(all.slice(30));
    expect(await other.blobs(row.id, ["h"])).toEqual(new Map([["h", "long ".repeat(100)]]));
    expect([asked.entries, asked.blobs]).toEqual([0, 0]);
  });

  it("still serves a process that has taken the run over in the meantime", async () => {
    const { primary, inner, asked } = countedPrimary();
    const { row } = await written(primary);
    const other = await open(primary);
    const claim = await inner.append([]).then(() => linked(row, { claim: { kind: "revoke" } }));
    let now = await accepted(other, claim);
    now = await accepted(other, linked(now, { claim: take("bob") }));
    now = await accepted(other, linked(now, { drop: { entries: [2], blobs: ["h"] } }));
    asked.entries = 0;
    const all = await other.entries(row.id, { from: 1, limit: 1000 });
    expect(asked.entries).toBe(0);
    expect(all.length).toBe(63);
    expect(all).toEqual(await inner.entries(row.id, { from: 1, limit: 1000 }));
    expect((await other.blobs(row.id, ["h"])).size).toBe(0);
    const text = await saved(other, row);
    expect(text).toContain(`"seq":63,"head":"${now.head}"`);
  });

  it("is not built on when the append did not follow it", async () => {
    const { primary, inner, asked } = countedPrimary();
    const { row } = await written(primary);
    const other = await open(primary);
    await accepted(other, step(row, { entry: { head: '{"p":"another past","v":[]}' } }));
    asked.entries = 0;
    const all = await other.entries(row.id, { from: 1, limit: 1000 });
    expect(asked.entries).toBe(1);
    expect(all).toEqual(await inner.entries(row.id, { from: 1, limit: 1000 }));
  });

  it("is ignored when it is older, or of the same position with another hash or epoch", async () => {
    const { primary, inner } = countedPrimary();
    const { row, text } = await written(primary);
    const identity = await inner.identity();
    // A writer that bypasses the cache.
    const moved = await accepted(inner, outsideAct(row, { drop: { entries: [5], blobs: ["h"] } }));
    const truth = await everythingOf(inner, row.id);
    const wrong = truth.entries.map((entry) => ({ ...entry, data: '"not so"' }));
    const copy = (parts: Partial<RunRow>) =>
      seal(copyOf({ ...moved, ...parts }, wrong) as Copy, row.id, identity);
    const forged = [
      text,
      copy({ head: "another" }),
      copy({ claim: { ...moved.claim, epoch: 9 } }),
      seal({ ...(copyOf(moved, wrong) as Copy), seq: 60 }, row.id, identity),
      seal(copyOf(moved, wrong) as never, "another-run", identity),
      seal(copyOf(moved, wrong) as never, row.id, { ...identity, incarnation: "another" }),
      seal(copyOf(moved, wrong) as never, row.id, { ...identity, secret: "another" }),
    ];
    for (const value of forged) {
      const other = await open(primary);
      await admin.set(keyOf(row), value);
      expect(await everythingOf(other, row.id)).toEqual(truth);
      expect((await other.blobs(row.id, ["h"])).size).toBe(0);
    }
  });

  it("is ignored when it is damaged in any way", async () => {
    const { primary, inner } = countedPrimary();
    const { row, text } = await written(primary);
    const truth = await everythingOf(inner, row.id);
    const damages = [
      "",
      "\n",
      "{}",
      text.slice(0, -10),
      text.slice(1),
      text.replace('{"value":7}', '{"value":8}'),
      text.split("\n")[0] ?? "",
      `${text} `,
      "x".repeat(1000),
    ];
    for (const value of damages) {
      expect(value).not.toBe(text);
      const other = await open(primary);
      await admin.set(keyOf(row), value);
      expect(await everythingOf(other, row.id)).toEqual(truth);
      // It may have put a copy of its own there.
      await other.close();
    }
    await admin.del(keyOf(row));
    await admin.lPush(keyOf(row), "a list");
    expect(await everythingOf(await open(primary), row.id)).toEqual(truth);
  });

  it("is made from what was read, page by page, when there was none", async () => {
    const { primary, inner, asked } = countedPrimary();
    const { row } = await written(primary);
    await admin.del(keyOf(row));
    const reader = await open(primary);
    for (let from = 1; from <= 60; from += 50) await reader.entries(row.id, { from, limit: 50 });
    expect(await saved(reader, row)).toContain('"seq":60');
    const other = await open(primary);
    asked.entries = 0;
    expect(await everythingOf(other, row.id)).toEqual(await everythingOf(inner, row.id));
    expect(asked.entries).toBe(0);
  });
});

describe.skipIf(url === undefined)("a cache that fails", () => {
  it("changes no answer, fails no call, and is left alone for a while", async () => {
    const { primary, inner } = countedPrimary();
    const warnings: unknown[] = [];
    let calls = 0;
    const broken = async (): Promise<never> => {
      calls++;
      throw new Error("away");
    };
    const store = await open(primary, {
      cache: { get: broken, set: broken, close: broken },
      logger: { warn: (message) => void warnings.push(message) },
    });
    let row = await accepted(store, creation({ run: { id: newId() } }));
    for (let i = 0; i < 100; i++) row = await accepted(store, step(row));
    for (let i = 0; i < 20; i++)
      expect(await everythingOf(store, row.id)).toEqual(await everythingOf(inner, row.id));
    await store.close();
    expect(calls).toBeLessThan(4);
    expect(warnings.length).toBe(1);
  });

  it("is not waited for when it does not answer", async () => {
    const { primary, inner } = countedPrimary();
    let asked = 0;
    const never = () => {
      asked++;
      return new Promise<never>(() => undefined);
    };
    const row = await accepted(inner, creation({ run: { id: newId() } }));
    const store = await open(primary, {
      cache: { get: never, set: never, close: async () => undefined },
      patienceMs: 20,
    });
    await everythingOf(store, row.id);
    const first = asked;
    for (let i = 0; i < 100; i++) await everythingOf(store, row.id);
    // After a failed call the cache isn't used for a while, and then for longer each time.
    expect(first).toBeGreaterThan(0);
    expect(asked).toBeLessThan(first + 10);
  });

  it("keeps nothing from starting when it is away", async () => {
    const away = openRedisCache({ url: "redis://127.0.0.1:1" });
    const store = await open(createMemoryStore(), { cache: away });
    const row = await accepted(store, creation({ run: { id: newId() } }));
    expect((await everythingOf(store, row.id)).entries.length).toBe(1);
  });
});

describe.skipIf(url === undefined)("engines on a tiered store", () => {
  it("take a run over from the copy, without reading its journal from the primary", async () => {
    const { primary, asked } = countedPrimary();
    const calls: string[] = [];
    const long = workflow("long", async (ctx) => {
      let sum = 0;
      for (let i = 0; i < 200; i++)
        sum += await ctx.step(`add ${i}`, async () => {
          calls.push(`add ${i}`);
          return i;
        });
      await ctx.signal("go");
      return sum;
    });
    const one = await open(primary);
    const first = createEngine({ store: one, workflows: [long] });
    const { id } = await first.start(long, undefined, { id: newId() });
    await expect.poll(async () => (await primary.read(id))?.status, { timeout: 30_000 }).toBe("waiting");
    await first.close();
    await one.close();
    const big = { entries: 0 };
    const counted: Store = {
      ...primary,
      entries: async (runId, range) => {
        const page = await primary.entries(runId, range);
        // Comparing a row with its journal reads the end of it: at most sixteen entries, and whether another one follows.
        if (page.length > 17) big.entries++;
        return page;
      },
    };
    const second = createEngine({ store: await open(counted), workflows: [long] });
    await second.signal(id, "go", undefined);
    expect(await second.result(id)).toBe(19_900);
    await second.close();
    expect(calls.length).toBe(200);
    expect(big.entries).toBe(0);
    expect(asked.reads).toBeGreaterThan(0);
  });
});

describe("the options of a tiered store", () => {
  it("are refused when they make no sense", () => {
    const options = {
      primary: createMemoryStore(),
      cache: { get: async () => null, set: async () => undefined, close: async () => undefined },
    };
    for (const wrong of [{ ttlMs: 0 }, { patienceMs: -1 }, { memory: 0 }, { ttl: 1 }])
      expect(() => createTieredStore({ ...options, ...wrong })).toThrow("Invalid ");
  });

  it("leave the primary's capabilities as they are", () => {
    const primary = createMemoryStore();
    const store = createTieredStore({
      primary,
      cache: { get: async () => null, set: async () => undefined, close: async () => undefined },
    });
    expect(store.capabilities).toEqual(primary.capabilities);
    expect(store.transaction).toBeUndefined();
  });
});
