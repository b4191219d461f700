import pg from "pg";
import { afterAll } from "vitest";
import { langGraphSuite } from "../../../test/support/langgraph-validation.ts";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import { openPostgresStore } from "../../stores/postgres/index.ts";

const { url } = await sharedPostgres();
const pool = new pg.Pool({ connectionString: url, max: 4 });
const schema = `langgraph-${process.pid}`;
let isThere = false;

afterAll(async () => {
  await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

langGraphSuite("PostgreSQL", async () => {
  // Emptying a schema is much faster than making one, and the suite wants many.
  if (isThere)
    await pool.query(
      `DELETE FROM "${schema}".blobs; DELETE FROM "${schema}".journal; DELETE FROM "${schema}".runs`,
    );
  isThere = true;
  return openPostgresStore({ pool, schema });
});
