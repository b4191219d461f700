import pg from "pg";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import type { Append, Expected, Refusal, Store } from "../../core/store/contract.ts";
import { accepted, creation, step } from "../../testing/conformance/index.ts";
import { onPool } from "./pool.ts";
import { PostgresStore } from "./store.ts";

const server = await sharedPostgres();
const schema = `steps-${process.pid}`;
const pool = new pg.Pool({ connectionString: server.url, max: 3 });
const stores: Store[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});
afterAll(async () => {
  await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

/** A store whose statement for steps is changed by `edit`, and what it has sent of them. */
async function lab(edit: (text: string) => string = (text) => text) {
  const sent: string[] = [];
  const inner = onPool(pool, { timeoutMs: 20_000, end: async () => undefined });
  const database = {
    ...inner,
    kept: async ({ text, values }: { readonly text: string; readonly values: readonly unknown[] }) => {
      sent.push(text.startsWith("WITH taken") ? "step" : text);
      return inner.query(edit(text), values);
    },
  };
  const store = new PostgresStore({ database, schema, create: true, logger: { warn: () => undefined } });
  stores.push(store);
  await store.identity();
  return { store, take: () => sent.splice(0) };
}

const counted = (append: Append): Append => ({ ...append, countsOnly: true });
let runs = 0;
const claimed = (store: Store) =>
  accepted(
    store,
    creation({
      run: { id: `run-${++runs}` },
      claim: { kind: "acquire", owner: "a", token: "t", ttlMs: 60_000 },
    }),
  );
const held = (row: Awaited<ReturnType<typeof claimed>>, expected: Partial<Expected> = {}): Append => {
  const plain = step(row, { claim: { kind: "hold", ttlMs: 60_000 } });
  return counted({ ...plain, expect: { ...(plain.expect as Expected), ...expected } });
};

/** What makes a step of a claimed run wrong, the answer, and the condition that finds it. */
const WRONG: readonly (readonly [string, Partial<Expected>, Refusal, string])[] = [
  ["another position", { seq: 7 }, "conflict", "run.seq = $4"],
  ["another token", { token: "stale" }, "fenced", "run.token = $5"],
  ["an older epoch", { epoch: 0 }, "fenced", "run.epoch = $10"],
];

describe.skipIf(server.url === undefined)("a step on PostgreSQL, in its own statement", () => {
  it("moves the run, holds its claim and adds its entry", async () => {
    const { store, take } = await lab();
    const row = await claimed(store);
    take();
    const append = held(row);
    const now = await accepted(store, append);
    expect(take()).toEqual(["step"]);
    expect(now).toMatchObject({
      seq: row.seq + 1,
      head: append.head,
      claim: { owner: "a", token: "t", epoch: 1 },
    });
    expect(now.claim.until).toBeGreaterThanOrEqual(row.claim.until);
    expect(await store.entries(row.id, { from: now.seq, limit: 5 })).toEqual(append.entries);
  });

  it.each(WRONG)("is refused at %s, as by the function, and leaves nothing", async (_, expected, reason) => {
    const { store } = await lab();
    const row = await claimed(store);
    const append = held(row, expected);
    const { countsOnly: _counts, ...plain } = append;
    const answers = [await store.append([append]), await store.append([plain])];
    expect(answers).toEqual([[{ ok: false, reason, row }], [{ ok: false, reason, row }]]);
    expect(await store.entries(row.id, { from: 1, limit: 5 })).toHaveLength(1);
  });

  it.each(WRONG)("would be taken at %s without its condition", async (_, expected, _reason, condition) => {
    const { store } = await lab((text) => text.replace(condition, `(true OR ${condition})`));
    const row = await claimed(store);
    expect(await store.append([held(row, expected)])).toEqual([{ ok: true }]);
  });

  it("is refused for a run that is not there", async () => {
    const { store } = await lab();
    const row = await claimed(store);
    const gone = held({ ...row, id: "nowhere" });
    expect(await store.append([gone])).toEqual([{ ok: false, reason: "missing", row: null }]);
  });

  it("is refused after a restore, and would be taken if the store's identity weren't looked at", async () => {
    const [{ store }, other] = [await lab(), await lab()];
    const blind = await lab((text) => text.replace("EXISTS (SELECT FROM", "true OR EXISTS (SELECT FROM"));
    const row = await claimed(store);
    const before = await claimed(blind.store);
    await other.store.markRestored();
    await expect(store.append([held(row)])).rejects.toMatchObject({ code: "HF-3051" });
    expect(await store.read(row.id)).toEqual(row);
    expect(await blind.store.append([held(before)])).toEqual([{ ok: true }]);
  });

  it("waits for whoever writes the run at the same time, and is judged by what they leave", async () => {
    const [{ store }, other] = [await lab(), await lab()];
    const row = await claimed(store);
    const both = await Promise.all(
      [store, other.store].map((one, at) =>
        one.append([{ ...held(row), entries: step(row, {}).entries, head: `head-${at}` }]),
      ),
    );
    expect(both.flat().filter(({ ok }) => ok)).toHaveLength(1);
    expect(both.flat().find(({ ok }) => !ok)).toMatchObject({
      reason: "conflict",
      row: { seq: row.seq + 1 },
    });
  });
});
