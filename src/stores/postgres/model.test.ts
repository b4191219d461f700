import pg from "pg";
import { afterAll, describe, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import { checkAgainstModel, MODEL_NOW } from "../../../test/support/store-model.ts";
import { onPool } from "./pool.ts";
import { PostgresStore } from "./store.ts";

const server = await sharedPostgres();
const schema = `model-${process.pid}`;

describe.skipIf(server.url === undefined)("the postgres store beside the memory store", () => {
  const pool = new pg.Pool({ connectionString: server.url, max: 3 });
  const inner = onPool(pool, { timeoutMs: 20_000, end: async () => undefined });
  const still = (text: string) => text.replaceAll("clock_timestamp()", `to_timestamp(${MODEL_NOW} / 1000)`);
  const open = () =>
    new PostgresStore({
      database: {
        ...inner,
        query: (text, values) => inner.query(still(text), values),
        kept: ({ text, values }) => inner.query(still(text), values),
        transaction: (work) =>
          inner.transaction((one) =>
            work({ ...one, query: (text, values) => one.query(still(text), values) }),
          ),
      },
      schema,
      create: true,
      logger: { warn: () => undefined },
    });
  afterAll(async () => {
    await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
    await pool.end();
  });

  it("gives the same answers and holds the same, whatever is appended", { timeout: 120_000 }, async () => {
    await checkAgainstModel(async () => {
      const store = open();
      await store.identity();
      for (const table of ["runs", "journal", "blobs"]) await pool.query(`DELETE FROM "${schema}".${table}`);
      return store;
    }, 60);
  });
});
