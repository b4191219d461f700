import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import type { Append, ClaimChange, Store } from "../../core/store.ts";
import { anEntry, creation, step, take } from "../../testing/conformance/index.ts";
import { createMemoryStore } from "../memory.ts";
import { onPool } from "./queryable.ts";
import { PostgresStore } from "./store.ts";

const server = await sharedPostgres();
const schema = `model-${process.pid}`;
const NOW = 1_800_000_000_000;
const RUNS = ["a", "b", "c"];
const HASHES = ["h1", "h2", "h3"];

/** An append by what is right and wrong about it; the rest comes from the run as it stands. */
interface Move {
  readonly run: string;
  readonly creates: boolean;
  readonly ahead: number;
  readonly epoch: number;
  readonly token: "right" | "wrong" | "none";
  readonly claim: ClaimChange["kind"];
  readonly ttlMs: number;
  readonly counts: readonly number[];
  readonly blobs: readonly string[];
  readonly drop: { readonly entries: readonly number[]; readonly blobs: readonly string[] } | null;
}

const weighted = <T>(usual: T, ...others: T[]) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(usual) },
    ...others.map((one) => ({ weight: 1, arbitrary: fc.constant(one) })),
  );

const moves: fc.Arbitrary<Move> = fc.record({
  run: fc.constantFrom(...RUNS),
  creates: weighted(false, true),
  ahead: weighted(0, 1, 2, -1),
  epoch: weighted(0, 1, -1),
  token: fc.constantFrom("right", "right", "none", "wrong"),
  claim: fc.constantFrom("acquire", "hold", "hold", "release", "revoke", "keep"),
  ttlMs: fc.constantFrom(0, 1000),
  counts: weighted<readonly number[]>([1], [3], [1, 2]),
  blobs: fc.array(fc.constantFrom(...HASHES), { maxLength: 3 }),
  drop: fc.option(
    fc.record({ entries: fc.array(fc.nat({ max: 6 })), blobs: fc.array(fc.constantFrom(...HASHES)) }),
    { freq: 3 },
  ),
});

async function toAppend(store: Store, move: Move, n: number): Promise<Append> {
  const row = await store.read(move.run);
  const claim =
    move.claim === "acquire" ? take(`w${n}`, move.ttlMs) : { kind: move.claim, ttlMs: move.ttlMs };
  const first = move.creates || !row ? 1 : row.seq + move.ahead + 1;
  let seq = first;
  const entries = move.counts.map((count) => {
    seq += count;
    return anEntry(seq - count, { count, head: `{"by":${n}}`, data: `"${n}"` });
  });
  const blobs = move.blobs.map((hash) => ({ hash, data: `${hash} of ${move.run}` }));
  const parts = { claim, entries, blobs, ...(move.drop ? { drop: move.drop } : {}) };
  if (move.creates || !row) return creation({ run: { id: move.run, createdAt: n }, ...parts });
  const tokens = { right: row.claim.token, wrong: "wrong", none: null };
  const expected = {
    seq: row.seq + move.ahead,
    epoch: row.claim.epoch + move.epoch,
    token: tokens[move.token],
  };
  return step(row, { ...parts, expect: expected, run: { stepsDone: n, status: "waiting", wakeAt: n } });
}

const everything = (store: Store) =>
  Promise.all(
    RUNS.map(async (id) => ({
      row: await store.read(id),
      entries: await store.entries(id, { from: 1, limit: 1000 }),
      blobs: await store.blobs(id, HASHES),
    })),
  );

describe.skipIf(server.url === undefined)("the postgres store beside the memory store", () => {
  const pool = new pg.Pool({ connectionString: server.url, max: 3 });
  const inner = onPool(pool, { timeoutMs: 20_000, end: () => pool.end() });
  const still = (text: string) => text.replaceAll("clock_timestamp()", `to_timestamp(${NOW} / 1000)`);
  const store = new PostgresStore({
    database: {
      ...inner,
      query: (text, values) => inner.query(still(text), values),
      transaction: (work) =>
        inner.transaction((one) => work({ ...one, query: (text, values) => one.query(still(text), values) })),
    },
    schema,
    create: true,
    logger: { warn: () => undefined },
  });
  beforeAll(async () => void (await store.identity()));
  afterAll(async () => {
    await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
    await store.close();
  });

  it("gives the same answers and holds the same, whatever is appended", { timeout: 120_000 }, async () => {
    const batches = fc.array(fc.array(moves, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 8 });
    const check = async (given: readonly (readonly Move[])[]): Promise<void> => {
      for (const table of ["runs", "journal", "blobs"]) await pool.query(`DELETE FROM "${schema}".${table}`);
      const memory = createMemoryStore({ clock: { now: () => NOW } });
      let n = 0;
      for (const batch of given) {
        const appends: Append[] = [];
        for (const move of batch) appends.push(await toAppend(memory, move, ++n));
        expect(await store.append(appends)).toEqual(await memory.append(appends));
        expect(await everything(store)).toEqual(await everything(memory));
      }
      expect(await store.list({ limit: 10 })).toEqual(await memory.list({ limit: 10 }));
      const due = { workflows: ["orders"], limit: 10 };
      expect(await store.due(due)).toEqual(await memory.due(due));
    };
    await fc.assert(fc.asyncProperty(batches, check), { numRuns: 60, seed: 7 });
  });
});
