import { describe, expect, it } from "vitest";
import { docExample } from "../../../test/support/doc-example.ts";
import { useFolders } from "../../../test/support/folders.ts";
import { type Context, createEngine, type SqlHandle, type Workflow, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import type { AsyncSqlHandle } from "../../stores/open.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";
import type { Store } from "../store/contract.ts";

const newFile = useFolders("transaction");

/** What the run fails with. */
async function failure(store: Store, body: (ctx: Context) => Promise<unknown>): Promise<unknown> {
  const flow = workflow("flow", (ctx) => body(ctx));
  const engine = createEngine({ store, workflows: [flow] });
  await engine.start(flow, undefined, { id: "r" });
  const error = await engine.result("r").catch((thrown: unknown) => thrown);
  await engine.close();
  await store.close();
  return (error as Error).cause;
}

describe("ctx.transaction on SQLite", () => {
  it("refuses a function that returns a promise, and keeps nothing of it", async () => {
    const file = newFile();
    const body = (ctx: Context) =>
      ctx.transaction("t", async (sql: SqlHandle) => {
        sql.run("CREATE TABLE t (k)");
        await Promise.resolve();
      });
    expect(await failure(await openSqliteStore({ file }), body)).toMatchObject({ code: "HF-1018" });
    const read = (ctx: Context) => ctx.transaction("r", (sql) => sql.all("SELECT * FROM t"));
    const again = await openSqliteStore({ file });
    const engine = createEngine({ store: again, workflows: [] });
    const other = workflow("other", read);
    await engine.start(other, undefined, { id: "other" });
    await expect(engine.result("other")).rejects.toMatchObject({
      cause: { message: expect.stringContaining("no such table") },
    });
    await engine.close();
    await again.close();
  });

  it("throws what the work throws, and the run may handle it", async () => {
    const store = await openSqliteStore({ file: newFile() });
    const flow = workflow("flow", async (ctx) => {
      const work = (sql: SqlHandle): number => {
        sql.run("CREATE TABLE t (k)");
        throw new RangeError("no");
      };
      const first = await ctx.transaction("t", work).catch((error: Error) => error.message);
      return [first, await ctx.transaction("u", (sql) => sql.all("SELECT 1 AS one").length)];
    });
    const engine = createEngine({ store, workflows: [flow] });
    await engine.start(flow, undefined, { id: "r" });
    expect(await engine.result("r")).toEqual(["no", 1]);
    await engine.close();
    await store.close();
  });
});

describe("the example of a transaction in the docs (R3)", () => {
  it("books a seat once", async () => {
    const { book } = await docExample<{ book: Workflow<string, number> }>(
      "transactions.md",
      "(sql: SqlHandle)",
    );
    const store = await openSqliteStore({ file: newFile() });
    const engine = createEngine({ store, workflows: [book] });
    await engine.start(book, "12A", { id: "r" });
    await engine.start(book, "12B", { id: "s" });
    expect(new Set([await engine.result("r"), await engine.result("s")])).toEqual(new Set([1, 2]));
    await engine.start(book, "12A", { id: "t" });
    await expect(engine.result("t")).rejects.toMatchObject({ code: "HF-2101" });
    await engine.close();
    await store.close();
  });
});

describe("ctx.transaction on a store without SQL", () => {
  it("is refused with the store's name", async () => {
    const body = (ctx: Context) => ctx.transaction("t", async (sql: AsyncSqlHandle) => sql.run("x"));
    expect(await failure(createMemoryStore(), body)).toMatchObject({
      code: "HF-1017",
      message: expect.stringContaining("memory"),
    });
  });
});
