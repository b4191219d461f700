import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { withFile } from "../../../test/support/version-1.ts";
import { createEngine } from "../../core/engine/engine.ts";
import type { RunQuery, Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { workflow } from "../../core/workflow.ts";
import { accepted, anEntry, creation, outsideAct, step } from "../../testing/conformance/index.ts";
import { openSqliteStore } from "./index.ts";
import { listStatements } from "./listing.ts";

const root = mkdtempSync(path.join(tmpdir(), "holdfast-storage-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
const newFile = (): string => path.join(root, `${++count}.db`);
const opened: Store[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

async function open(file: string): Promise<Store> {
  const store = await openSqliteStore({ file });
  opened.push(store);
  return store;
}

describe("lists on SQLite", () => {
  const cases: [query: Omit<RunQuery, "limit">, index: string, search: string][] = [
    [{ pruned: false }, "runs_by_age", "<expr>=?"],
    [{ status: ["failed"], pruned: true }, "runs_by_status", "status=? AND <expr>=?"],
    [{ workflow: "w", pruned: false }, "runs_by_workflow", "workflow=? AND <expr>=?"],
    [
      { status: ["failed"], workflow: "w", pruned: false },
      "runs_by_status_and_workflow",
      "status=? AND workflow=? AND <expr>=?",
    ],
    [{ parent: "p" }, "runs_by_parent", "parent_run=?"],
    [{ parent: "p", status: ["failed"], workflow: "w", pruned: true }, "runs_by_parent", "parent_run=?"],
    [{ name: "n", status: ["failed", "paused"] }, "runs_by_name", "name=?"],
    [{ queue: "q", workflow: "w" }, "runs_by_queue", "queue=?"],
    [{ key: "k", queue: "q" }, "runs_by_key", "run_key=?"],
  ];
  const planOf = (file: string, query: RunQuery): Promise<unknown[]> => {
    const [{ text, values } = { text: "", values: [] }, ...others] = listStatements(query);
    expect(others).toEqual([]);
    return withFile(file, (db) =>
      db.query(`EXPLAIN QUERY PLAN ${text}`, [...values]).map((row) => row["detail"]),
    );
  };

  it("come from an index in the order asked for, from the first page to the last (S1-31)", async () => {
    const file = newFile();
    await open(file);
    for (const [query, index, search] of cases) {
      for (const cursor of [undefined, "5.r5"]) {
        const plan = await planOf(file, { limit: 10, ...query, ...(cursor ? { cursor } : {}) });
        const onwards = cursor ? " AND (created_at,id)<(?,?)" : "";
        expect(plan.slice(0, 1)).toEqual([`SEARCH runs USING INDEX ${index} (${search}${onwards})`]);
        expect(plan.join("\n")).not.toContain("TEMP B-TREE");
      }
    }
    const labelled = await planOf(file, { limit: 10, labels: { team: "a", tier: "b" }, cursor: "5.r5" });
    expect(labelled[0]).toContain("SEARCH label USING PRIMARY KEY (name=? AND value=?");
    expect(labelled.join("\n")).not.toContain("TEMP B-TREE");
  });

  it("find the few runs with values among the many without", async () => {
    const store = await open(newFile());
    const runs = Array.from({ length: 3000 }, (_, i) => {
      const isKept = i % 1000 === 0;
      return creation({
        run: { id: `r${i}`, createdAt: i, status: "completed", prunedAt: isKept ? null : 1 },
      });
    });
    await store.append(runs);
    const query: RunQuery = { status: ["completed", "failed"], workflow: "orders", pruned: false, limit: 2 };
    const first = await store.list(query);
    const second = await store.list({ ...query, cursor: first.cursor ?? "" });
    expect([...first.runs, ...second.runs].map(({ id }) => id)).toEqual(["r2000", "r1000", "r0"]);
    expect(second.cursor).toBeNull();
  });
});

/** A few interleaved runs with values of a given size, as agents leave them: sharing pages, or in their own. */
async function fill(store: Store, size: number): Promise<RunRow[]> {
  const rows: RunRow[] = [];
  for (let i = 0; i < 20; i++) rows.push(await accepted(store, creation({ run: { id: `run-${i}` } })));
  for (let round = 0; round < 20; round++) {
    const blobs = [{ hash: `h${round}`, data: "b".repeat(size) }];
    const appends = rows.map((row) => step(row, { entry: { data: "d".repeat(size) }, blobs }));
    expect((await store.append(appends)).every(({ ok }) => ok)).toBe(true);
    for (const [i, row] of rows.entries()) rows[i] = { ...row, seq: row.seq + 1 };
  }
  return rows;
}

async function dropAll(store: Store, rows: readonly RunRow[]): Promise<void> {
  const entries = Array.from({ length: 21 }, (_, i) => i + 1);
  const blobs = Array.from({ length: 20 }, (_, i) => `h${i}`);
  for (const row of rows)
    await accepted(store, outsideAct(row, { run: { prunedAt: 1 }, drop: { entries, blobs } }));
}

describe("what is dropped from a SQLite file", () => {
  it.each([500, 2_000, 40_000])("gives the disk back the room of values of %d bytes", async (size) => {
    const file = newFile();
    const store = await open(file);
    const rows = await fill(store, size);
    await store.close();
    const before = statSync(file).size;
    const again = await open(file);
    await dropAll(again, rows);
    await again.close();
    const after = statSync(file).size;
    const values = 2 * 20 * 20 * size;
    expect(before).toBeGreaterThan(values);
    expect(after).toBeLessThan(before - 0.6 * values);
    const state = await withFile(file, (db) => db.prepare("PRAGMA integrity_check").all());
    expect(state).toEqual([["ok"]]);
  });

  it("gives back every page at once where there are few", async () => {
    const file = newFile();
    const store = await open(file);
    const row = await accepted(
      store,
      creation({ entries: [anEntry(1), anEntry(2, { data: "d".repeat(90_000) })] }),
    );
    await accepted(store, outsideAct(row, { drop: { entries: [1, 2], blobs: [] } }));
    await store.close();
    const free = await withFile(file, (db) => db.prepare("PRAGMA freelist_count").all());
    expect(free).toEqual([[0]]);
  });

  it("does not hold up others that write to the file", async () => {
    const file = newFile();
    const [one, two] = [await open(file), await open(file)];
    const rows = await fill(one, 2_000);
    let other = await accepted(two, creation({ run: { id: "other" } }));
    const dropping = dropAll(one, rows);
    for (let i = 0; i < 100; i++) other = await accepted(two, step(other));
    await dropping;
    expect((await one.read("other"))?.seq).toBe(101);
  });
});

describe("what a run writes to the log of a SQLite file", () => {
  it("is eight pages in one flush without steps, and at most 24 in four flushes with three steps (issue 16)", async () => {
    const file = newFile();
    const store = await open(file);
    const flow = workflow("flow", async (ctx, count: number) => {
      for (let n = 0; n < count; n++) await ctx.step("s", () => n);
    });
    const engine = createEngine({ store, workflows: [flow], sweepMs: 3_600_000, claimMs: 3_600_000 });
    const pagesOf = async (steps: number): Promise<number> => {
      const before = statSync(`${file}-wal`).size;
      await engine.result((await engine.start(flow, steps)).id);
      return (statSync(`${file}-wal`).size - before) / (16_384 + 24);
    };
    await pagesOf(0);
    const { flushes } = engine;
    expect(await pagesOf(0)).toBe(8);
    expect(engine.flushes - flushes).toBe(1);
    expect(await pagesOf(3)).toBeLessThanOrEqual(24);
    expect(engine.flushes - flushes).toBe(5);
    await engine.close();
  });
});
