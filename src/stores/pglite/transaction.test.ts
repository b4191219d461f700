import { PGlite } from "@electric-sql/pglite";
import { afterAll, describe, expect, it } from "vitest";
import { docExample } from "../../../test/support/doc-example.ts";
import { createEngine, type Workflow, workflow } from "../../index.ts";
import type { AsyncSqlHandle } from "../../stores/open.ts";
import { createFaultyStore } from "../../testing/faulty-store.ts";
import { openPgliteStore } from "./index.ts";

const db = new PGlite();
afterAll(() => db.close());

describe("ctx.transaction on PGlite", () => {
  it("commits once, whatever becomes of its acknowledgement, and reads values as PostgreSQL has them", async () => {
    await db.query("CREATE TABLE paid (what text PRIMARY KEY, cents bigint)");
    const flow = workflow("flow", (ctx, what: string) =>
      ctx.transaction("pay", async (sql: AsyncSqlHandle) => {
        await sql.run("INSERT INTO paid VALUES ($1, $2)", what, 2n ** 60n);
        const [row] = await sql.all(
          "SELECT cents, 1::int AS one, now() > '2020-01-01' AS late, '2020-02-03'::date AS day, '{\"a\":1}'::jsonb AS json, ARRAY[1, 2] AS list FROM paid WHERE what = $1",
          what,
        );
        return { ...row };
      }),
    );
    for (const kind of ["fail", "fail-after"] as const) {
      const faults = [{ method: "transaction", call: 1, fault: { kind } }] as const;
      const store = createFaultyStore(await openPgliteStore({ db }), { faults });
      const engine = createEngine({ store, workflows: [flow] });
      await engine.start(flow, kind, { id: kind });
      expect(await engine.result(kind)).toEqual({
        cents: 2n ** 60n,
        one: 1,
        late: true,
        day: "2020-02-03",
        json: '{"a": 1}',
        list: "[1,2]",
      });
      await engine.close();
      await store.close();
    }
    expect((await db.query("SELECT what FROM paid")).rows).toHaveLength(2);
  });

  it("does what the example in the docs says (R3)", async () => {
    type Book = { bookOnServer: Workflow<string, number> };
    const { bookOnServer } = await docExample<Book>("transactions.md", "bookOnServer");
    await db.query("CREATE TABLE seats (seat text PRIMARY KEY, run text NOT NULL)");
    const store = await openPgliteStore({ db });
    const engine = createEngine({ store, workflows: [bookOnServer] });
    await engine.start(bookOnServer, "12A", { id: "booked" });
    expect(Number(await engine.result("booked"))).toBe(1);
    await engine.close();
    await store.close();
  });

  it("leaves nothing of work that failed, and the database free for others", async () => {
    const store = await openPgliteStore({ db });
    const flow = workflow("failing", (ctx) =>
      ctx.transaction("pay", async (sql: AsyncSqlHandle) => {
        await sql.run("INSERT INTO paid VALUES ('late', 1)");
        await sql.run("INSERT INTO paid VALUES ('late', 2)");
      }),
    );
    const engine = createEngine({ store, workflows: [flow] });
    await engine.start(flow, undefined, { id: "failing" });
    await expect(engine.result("failing")).rejects.toMatchObject({
      cause: { message: expect.stringContaining("duplicate key") },
    });
    expect((await db.query("SELECT what FROM paid WHERE what = 'late'")).rows).toEqual([]);
    await engine.close();
    await store.close();
  });
});
