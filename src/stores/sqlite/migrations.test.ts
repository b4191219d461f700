import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { contentsOf, makeVersion1, withFile } from "../../../test/support/version-1.ts";
import { createEngine, type Engine } from "../../core/engine/engine.ts";
import type { Store } from "../../core/store/contract.ts";
import { workflow } from "../../core/workflow.ts";
import { accepted, step } from "../../testing/conformance/index.ts";
import { checkInvariants } from "../../testing/invariants/invariants.ts";
import { openSqliteStore } from "./index.ts";

const root = mkdtempSync(path.join(tmpdir(), "holdfast-migrations-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
const newFile = (): string => path.join(root, `${++count}.db`);
const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

async function open(file: string): Promise<Store> {
  const store = await openSqliteStore({ file });
  opened.push(store);
  return store;
}

async function openVersion1(more = ""): Promise<{ file: string; store: Store }> {
  const file = newFile();
  await makeVersion1(file, more);
  return { file, store: await open(file) };
}

const DRAFT = "cHeeAEMnO_uPpjNFctlHGQr-EKu-vtCokDdA2mGcg-k";
const STYLE = "5BOi8Z1_crRUCNu_afp3CTeidyelOb9ajhs0dpoBWFY";
const LONG = "DNIysrPswLNmaKKkA3EtR2fSQKMBSr8ugN1nrVslsh0";

const hashesOf = async (store: Store, id: string, ...more: string[]): Promise<string[]> =>
  [...(await store.blobs(id, [DRAFT, STYLE, LONG, "of-no-run", ...more])).keys()].sort();

describe("a file of the first version", () => {
  it("keeps its runs, and their new fields say what the journal says", async () => {
    const { store } = await openVersion1();
    const { runs } = await store.list({ limit: 10 });
    expect(runs.map(({ workflow: name }) => name)).toEqual(["write", "report", "check", "write", "pages"]);
    const pages = await store.read("pages-1");
    expect(pages).toMatchObject({ version: "1", schema: 1, turns: 6, openChildren: 0, snapshotSeq: 20 });
    expect(pages).toMatchObject({ origin: null, budget: null, pinned: false, prunedAt: null, activeMs: 100 });
    const report = await store.read("report-1");
    expect(report).toMatchObject({ turns: 0, openChildren: 1, status: "waiting" });
    expect((await store.identity()).secret).toBe("secret-of-the-version-1-fixture-file");
    expect(
      (await store.list({ status: ["waiting"], workflow: "pages", pruned: false, limit: 5 })).runs,
    ).toEqual([pages]);
  });

  it("gives every run the blobs that its entries and its snapshots point to, and keeps no others", async () => {
    const { file, store } = await openVersion1();
    expect(await hashesOf(store, "pages-1")).toEqual([STYLE, DRAFT].sort());
    expect(await hashesOf(store, "write-1")).toEqual([LONG]);
    expect(await hashesOf(store, "report-1")).toEqual([LONG]);
    expect((await store.blobs("report-1", [LONG])).get(LONG)).toBe(`"${"l".repeat(9000)}"`);
    const { rows } = await contentsOf(file);
    expect(Object.keys(rows).sort()).toEqual([
      "agent_checkpoints",
      "agent_checkpoints_archive",
      "checkpoints",
      "journal",
      "meta",
      "record_keys",
      "run_blobs",
      "run_labels",
      "runs",
      "store_documents",
      "workflow_checkpoints",
    ]);
    expect(rows["run_blobs"]).toHaveLength(5);
  });

  it("finds what a snapshot points to when it is a blob itself", async () => {
    const hash = (letter: string) => letter.repeat(43);
    const quoted = JSON.stringify(`\\["Blob","${hash("q")}"]`);
    const snapshot = JSON.stringify({
      a: { $: ["Blob", hash("a")] },
      b: [{ $: ["Blob", hash("b")] }],
      quoted,
    });
    const blobs = ["a", "b", "q", "z"].map((letter) => `('${hash(letter)}', '${letter}')`).join(", ");
    const head = JSON.stringify({ p: "", t: 1, e: 1, v: [["snapshot_taken", "", {}, hash("s")]] });
    const { store } = await openVersion1(`
      INSERT INTO blobs (hash, data) VALUES ${blobs}, ('${hash("s")}', '${snapshot}');
      INSERT INTO journal (run, seq, count, head, data) VALUES (2, 900, 1, '${head}', NULL);`);
    const letters = ["a", "b", "q", "s", "z"].map(hash);
    const found = await hashesOf(store, "write-1", ...letters);
    expect(found).toEqual([LONG, hash("a"), hash("b"), hash("s")].sort());
    expect(await hashesOf(store, "pages-1", ...letters)).toEqual([STYLE, DRAFT].sort());
  });

  it("opens also when heads in it are no JSON or of another shape", async () => {
    const heads = [
      "",
      "no JSON",
      "456",
      "null",
      '{"v":7}',
      '{"v":["x",{"a":1}],"b":"h"}',
      '{"v":[[]],"b":[1]}',
    ];
    const rows = heads.map((head, i) => `(1, ${900 + i}, 1, '${head}', NULL)`).join(", ");
    const { store } = await openVersion1(`INSERT INTO journal (run, seq, count, head, data) VALUES ${rows};`);
    const found = await store.entries("pages-1", { from: 900, limit: 100 });
    expect(found.map(({ head }) => head)).toEqual(heads);
    expect((await store.read("pages-1"))?.turns).toBe(6);
  });

  it("is brought up to date by whichever of many openers comes first", async () => {
    const file = newFile();
    await makeVersion1(file);
    const stores = await Promise.all(Array.from({ length: 12 }, () => open(file)));
    const rows = await Promise.all(stores.map((store) => store.read("report-1")));
    expect(rows.map((row) => row?.openChildren)).toEqual(Array(12).fill(1));
  });

  it("has the schema of a new file, except that it cannot give pages back", async () => {
    const { file } = await openVersion1();
    const fresh = newFile();
    await open(fresh);
    const plain = async (name: string) =>
      (await contentsOf(name)).schema.map(([type, item, table, sql]) => [type, item, table, text(sql)]);
    const text = (sql: unknown) => String(sql).replaceAll(/--.*\n|\s+/g, "");
    expect(await plain(file)).toEqual(await plain(fresh));
    const vacuum = (name: string) => withFile(name, (db) => db.prepare("PRAGMA auto_vacuum").all());
    expect([await vacuum(file), await vacuum(fresh)]).toEqual([[[0]], [[2]]]);
  });

  it("uses the room of what is dropped again", async () => {
    const { file, store } = await openVersion1();
    let row = (await store.read("pages-1")) ?? expect.unreachable();
    const data = "x".repeat(200_000);
    const pages = () => withFile(file, (db) => Number(db.prepare("PRAGMA page_count").all()[0]?.[0]));
    const write = async (drop: readonly number[]) => {
      row = await accepted(
        store,
        step(row, { expect: { token: null }, entry: { data }, drop: { entries: drop, blobs: [] } }),
      );
    };
    await write([]);
    const before = await pages();
    for (let round = 0; round < 20; round++) await write([row.seq]);
    expect(await pages()).toBeLessThan(before + 16);
  });

  it("has runs that go on from where they were", async () => {
    const { store } = await openVersion1();
    const asked: string[] = [];
    const engine = engineOn(store, asked);
    await engine.work();
    await engine.answer("pages-1", "publish", { choice: "yes" });
    const notes = Array.from({ length: 6 }, (_, i) => `${i} 7`);
    expect(await engine.result("pages-1")).toEqual({ choice: "yes", notes, style: 1500 });
    const child = (await store.list({ parent: "report-1", status: ["waiting"], limit: 5 })).runs[0];
    await engine.answer(child?.id ?? "", "good", { choice: "no" });
    expect(await engine.result("report-1")).toEqual({ long: 9000, checked: "no" });
    expect(asked).toEqual([]);
    const broken = await checkInvariants(store, { calls: [] });
    expect(broken.filter(({ invariant }) => invariant === "I1")).toEqual([]);
  });
});

/** The workflows that wrote the fixture. `asked` records every step that runs. */
function engineOn(store: Store, asked: string[]): Engine {
  const noted = <T>(name: string, value: T): T => (asked.push(name), value);
  const pages = workflow("pages", async (ctx, size: number) => {
    ctx.memory.set("style", "s".repeat(1500));
    const initial = { draft: "d".repeat(1200), notes: [] as string[] };
    const { notes } = await ctx.loop("read", initial, async (state, turn) => {
      const page = await ctx.step("page", () => noted("page", Array<string>(7).fill("p".repeat(1000))));
      state.notes.push(`${turn.index} ${page.length}`);
      return turn.index === size - 1 ? turn.done() : undefined;
    });
    const { choice } = await ctx.gate("publish", { choices: ["yes", "no"] });
    return { choice, notes, style: String(ctx.memory.get("style")).length };
  });
  const write = workflow("write", async (ctx, letter: string) =>
    ctx.step("text", () => noted("text", letter.repeat(9000))),
  );
  const check = workflow("check", async (ctx, _: null) => {
    const { choice } = await ctx.gate("good", { choices: ["yes", "no"] });
    return choice;
  });
  const report = workflow("report", async (ctx, _: null) => {
    const long = await ctx.child("long", write, "l");
    return { long: long.length, checked: await ctx.child("check", check, null) };
  });
  const quiet = (): void => undefined;
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const engine = createEngine({ store, workflows: [pages, write, check, report], logger });
  opened.push(engine);
  return engine;
}
