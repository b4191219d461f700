import { spawn } from "node:child_process";
import { once } from "node:events";
import pg from "pg";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { startPgbouncer } from "../../../test/support/services/pgbouncer.ts";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import type { Store } from "../../core/store/contract.ts";
import { type Context, createEngine, type Engine, workflow } from "../../index.ts";
import type { AsyncSqlHandle } from "../../stores/open.ts";
import { createFaultyStore } from "../../testing/faulty-store.ts";
import { openPostgresStore } from "./index.ts";

const { url = "" } = await sharedPostgres();
const bouncer = url === "" ? "there is no server" : await startPgbouncer(url);
const admin = new pg.Pool({ connectionString: url });
const schemas: string[] = [];
const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
  for (const schema of schemas.splice(0)) await admin.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
});
afterAll(async () => {
  await admin.end();
  if (typeof bouncer === "object") await bouncer.stop();
});

let count = 0;
const LETTERS = "abcdefgh".split("");

/** Creates a schema with a table `paid` that belongs to the caller. */
async function newSchema(): Promise<string> {
  const schema = `x${process.pid}_${++count}`;
  schemas.push(schema);
  await admin.query(
    `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.paid (what text PRIMARY KEY, cents bigint)`,
  );
  return schema;
}

async function open(schema: string, connectionString = url, timeoutMs = 30_000): Promise<Store> {
  const store = await openPostgresStore({ connectionString, schema, timeoutMs });
  ended.push(() => store.close());
  return store;
}

function engineOn(store: Store, body: (ctx: Context) => Promise<unknown>) {
  const flow = workflow("flow", (ctx) => body(ctx));
  const engine = createEngine({ store, workflows: [flow], claimMs: 30_000, sweepMs: 20 });
  ended.push(() => engine.close({ drainMs: 1 }));
  return { engine, start: () => engine.start(flow, undefined, { id: "r" }) };
}

const paid = async (schema: string): Promise<unknown> =>
  (await admin.query(`SELECT what, cents::int FROM ${schema}.paid ORDER BY what`)).rows;

const pay = (schema: string) => async (sql: AsyncSqlHandle) => {
  await sql.run(`INSERT INTO ${schema}.paid VALUES ($1, $2)`, "tea", 300);
  const [row] = await sql.all(`SELECT sum(cents)::bigint AS sum FROM ${schema}.paid`);
  return row?.["sum"];
};

const failureOf = async (engine: Engine): Promise<unknown> => {
  const error = await engine.result("r").catch((thrown: unknown) => thrown);
  return (error as Error).cause;
};

describe.skipIf(url === "")("ctx.transaction on PostgreSQL", () => {
  it("commits the caller's writes with the outcome, and gives the outcome back ever after", async () => {
    const schema = await newSchema();
    const store = await open(schema);
    expect(store.capabilities.transactions).toBe("async");
    const { engine, start } = engineOn(store, async (ctx) => [
      await ctx.transaction("pay", pay(schema)),
      await ctx.gate("ok", { choices: ["yes"] }),
    ]);
    await start();
    await engine.settled("r");
    await engine.answer("r", "ok", { choice: "yes" });
    expect(await engine.result("r")).toMatchObject([300, { choice: "yes" }]);
    expect(await paid(schema)).toEqual([{ what: "tea", cents: 300 }]);
  });

  it.skipIf(typeof bouncer === "string")(
    "works behind a pooler in transaction mode, many at a time",
    async () => {
      const schema = await newSchema();
      const store = await open(schema, (bouncer as { url: string }).url);
      const { engine, start } = engineOn(store, (ctx) =>
        ctx.each("pay", LETTERS, (what) =>
          ctx.transaction("one", async (sql: AsyncSqlHandle) => {
            await sql.run(`INSERT INTO ${schema}.paid VALUES ($1, 1)`, what);
            return what;
          }),
        ),
      );
      await start();
      expect(await engine.result("r")).toEqual(LETTERS);
      expect(await paid(schema)).toHaveLength(8);
    },
  );

  it("reads values of every kind as what they are", async () => {
    const schema = await newSchema();
    const { engine, start } = engineOn(await open(schema), (ctx) =>
      ctx.transaction("read", async (sql: AsyncSqlHandle) => {
        const [row] = await sql.all(
          `SELECT 1::int AS small, 9007199254740993::bigint AS large, true AS yes, NULL AS nothing, $1::text AS text,
            $2::bytea AS bytes, 1.5::float8 AS part, 0.10::numeric AS exact, '[1]'::json AS json`,
          "🦊",
          new Uint8Array([1, 255]),
        );
        return { ...row };
      }),
    );
    await start();
    expect(await engine.result("r")).toEqual({
      small: 1,
      large: 9007199254740993n,
      yes: true,
      nothing: null,
      text: "🦊",
      bytes: new Uint8Array([1, 255]),
      part: 1.5,
      exact: "0.10",
      json: "[1]",
    });
  });

  it("is rolled back when the work fails, also by a statement whose failure it passes over", async () => {
    const schema = await newSchema();
    const insert = `INSERT INTO ${schema}.paid VALUES ('tea', 1)`;
    const own = engineOn(await open(schema), (ctx) =>
      ctx.transaction("pay", async (sql: AsyncSqlHandle) => {
        await sql.run(insert);
        throw new RangeError("changed my mind");
      }),
    );
    await own.start();
    expect(await failureOf(own.engine)).toMatchObject({ name: "RangeError", message: "changed my mind" });
    const other = await newSchema();
    const careless = engineOn(await open(other), (ctx) =>
      ctx.transaction("pay", async (sql: AsyncSqlHandle) => {
        const again = insert.replace(schema, other);
        await sql.run(again);
        await sql.run(again).catch(() => undefined);
        return "fine";
      }),
    );
    await careless.start();
    expect(await failureOf(careless.engine)).toMatchObject({
      message: expect.stringContaining("duplicate key"),
    });
    expect([await paid(schema), await paid(other)]).toEqual([[], []]);
  });

  it("has no room for steps of the run, nor for several statements in one text", async () => {
    const schema = await newSchema();
    const { engine, start } = engineOn(await open(schema), (ctx) =>
      ctx.transaction("pay", async (sql: AsyncSqlHandle) => {
        const inner = await ctx.step("inner", () => 1).catch((error: { code: string }) => error.code);
        const two = `INSERT INTO ${schema}.paid VALUES ('tea', 1); COMMIT`;
        return [inner, await sql.run(two).catch((error: { code: string }) => error.code)];
      }),
    );
    await start();
    expect(await failureOf(engine)).toMatchObject({ message: expect.stringContaining("multiple commands") });
    expect(await paid(schema)).toEqual([]);
    const refused = engineOn(await open(await newSchema()), (ctx) =>
      ctx.transaction("pay", () => ctx.step("inner", () => 1)),
    );
    await refused.start();
    expect(await failureOf(refused.engine)).toMatchObject({ code: "HF-1019" });
  });

  it("is done again when somebody wrote to the run in between, and leaves one effect", async () => {
    const schema = await newSchema();
    let tries = 0;
    const { engine, start } = engineOn(await open(schema), (ctx) =>
      ctx.transaction("pay", async (sql: AsyncSqlHandle) => {
        if (++tries === 1) await engine.signal("r", "hello");
        return pay(schema)(sql);
      }),
    );
    await start();
    expect(await engine.result("r")).toBe(300);
    expect(tries).toBe(2);
    expect(await paid(schema)).toHaveLength(1);
  });

  it("is looked up when its commit was not acknowledged, and is not done again", async () => {
    for (const kind of ["fail-after", "fail", "fail-late"] as const) {
      const schema = await newSchema();
      const faults = [{ method: "transaction", call: 1, fault: { kind } }] as const;
      const store = createFaultyStore(await open(schema), { faults });
      const { engine, start } = engineOn(store, (ctx) => ctx.transaction("pay", pay(schema)));
      await start();
      expect(await engine.result("r")).toBe(300);
      expect(await paid(schema)).toHaveLength(1);
    }
  });

  it("is done again after the server gave way to others, as if nothing had been", async () => {
    const schema = await newSchema();
    let tries = 0;
    const { engine, start } = engineOn(await open(schema), (ctx) =>
      ctx.transaction("pay", async (sql: AsyncSqlHandle) => {
        await pay(schema)(sql);
        if (++tries === 1) await sql.run("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$");
        return tries;
      }),
    );
    await start();
    expect(await engine.result("r")).toBe(2);
    expect(await paid(schema)).toHaveLength(1);
  });

  it("loses its locks when its process stands still in it for too long, and is done again", async () => {
    const schema = await newSchema();
    let attempts = 0;
    const { engine, start } = engineOn(await open(schema, url, 300), (ctx) =>
      ctx.transaction("pay", async (sql: AsyncSqlHandle) => {
        const sum = await pay(schema)(sql);
        // Somebody else waits for the table, as a worker would that has taken the run over.
        if (++attempts === 1) await admin.query(`BEGIN; LOCK TABLE ${schema}.paid; COMMIT`);
        return sum;
      }),
    );
    await start();
    expect(await engine.result("r")).toBe(300);
    expect(attempts).toBe(2);
    expect(await paid(schema)).toEqual([{ what: "tea", cents: 300 }]);
  });

  it("stands still no longer than the server allows by itself", async () => {
    const schema = await newSchema();
    const strict = new URL(url);
    strict.searchParams.set("options", "-c idle_in_transaction_session_timeout=7s");
    const shown = async (connectionString: string, timeoutMs: number) => {
      const { engine, start } = engineOn(await open(schema, connectionString, timeoutMs), (ctx) =>
        ctx.transaction(`under ${timeoutMs}`, async (sql: AsyncSqlHandle) => {
          const [row] = await sql.all(
            "SELECT current_setting('idle_in_transaction_session_timeout') AS idle",
          );
          return row?.["idle"];
        }),
      );
      await engine.delete("r").catch(() => undefined);
      await start();
      return engine.result("r");
    };
    expect(await shown(url, 30_000)).toBe("30s");
    expect(await shown(strict.href, 30_000)).toBe("7s");
    expect(await shown(strict.href, 5_000)).toBe("5s");
  });

  it("leaves nothing of a process that is killed in it, and is done by the next one", async () => {
    const schema = await newSchema();
    const here = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);
    const code = `
      import { createEngine, workflow } from ${here("../../index.ts")};
      import { openPostgresStore } from ${here("./index.ts")};
      const flow = workflow("flow", (ctx) => ctx.transaction("pay", async (sql) => {
        await sql.run("INSERT INTO ${schema}.paid VALUES ('tea', 300)");
        process.kill(process.pid, "SIGKILL");
        await new Promise(() => undefined);
      }));
      const store = await openPostgresStore({ connectionString: ${JSON.stringify(url)}, schema: "${schema}" });
      const engine = createEngine({ store, workflows: [flow], claimMs: 1_000 });
      await engine.start(flow, undefined, { id: "r" });`;
    const args = ["--import", "tsx", "--input-type=module", "-e", code];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
    expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
    expect(await paid(schema)).toEqual([]);
    const { engine } = engineOn(await open(schema), (ctx) => ctx.transaction("pay", pay(schema)));
    await engine.recover();
    expect(await engine.result("r")).toBe(300);
    expect(await paid(schema)).toHaveLength(1);
  });
});
