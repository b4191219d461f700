import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import { createEngine, workflow } from "../../index.ts";
import type { AsyncSqlHandle } from "../../stores/open.ts";
import { openPostgresStore } from "./index.ts";

const { url = "" } = await sharedPostgres();
const admin = new pg.Pool({ connectionString: url });
const schema = `cancel${process.pid}`;
afterAll(async () => {
  if (url !== "") await admin.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await admin.end();
});

describe.skipIf(url === "")("a transaction of a run that another process cancels", () => {
  it.each([false, true])("is told, and nothing of it is kept (with undoing: %s)", async (compensate) => {
    await admin.query(
      `CREATE SCHEMA IF NOT EXISTS ${schema}; CREATE TABLE IF NOT EXISTS ${schema}.paid (cents bigint)`,
    );
    const id = `r-${compensate}`;
    const [worked, acted] = [
      await openPostgresStore({ connectionString: url, schema }),
      await openPostgresStore({ connectionString: url, schema }),
    ];
    let begun = (): void => undefined;
    const underWay = new Promise<void>((resolve) => void (begun = resolve));
    let [told, calls] = [0, 0];
    const flow = workflow("flow", async (ctx) => {
      await ctx.transaction("pay", async (sql: AsyncSqlHandle) => {
        await sql.run(`INSERT INTO ${schema}.paid VALUES ($1)`, 300);
        calls++;
        begun();
        await new Promise<void>((resolve) => {
          ctx.abortSignal.addEventListener("abort", () => {
            told++;
            resolve();
          });
        });
      });
      return "paid";
    });
    const engine = createEngine({ store: worked, workflows: [flow], claimMs: 1_500, sweepMs: 50 });
    const desk = createEngine({ store: acted, execute: false });
    await engine.start(flow, undefined, { id });
    await underWay;
    await desk.cancel(id, { actor: "ada", compensate });
    await expect(engine.result(id)).rejects.toMatchObject({ code: "HF-2110" });
    await engine.close();
    expect([calls, told]).toEqual([1, 1]);
    expect((await admin.query(`SELECT count(*)::int AS rows FROM ${schema}.paid`)).rows).toEqual([
      { rows: 0 },
    ]);
    expect(await desk.get(id)).toMatchObject({ status: "cancelled", control: "none" });
    await desk.close();
    await worked.close();
    await acted.close();
  });
});
