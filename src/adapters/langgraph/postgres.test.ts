import pg from "pg";
import { afterAll } from "vitest";
import { langGraphSuite } from "../../../test/support/langgraph-validation.ts";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import { openPostgresStore } from "../../stores/postgres/index.ts";

const { url } = await sharedPostgres();
const pool = new pg.Pool({ connectionString: url, max: 4 });
const schemas: string[] = [];

afterAll(async () => {
  for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

langGraphSuite("PostgreSQL", async () => {
  const schema = `langgraph-${process.pid}-${schemas.length}`;
  schemas.push(schema);
  return openPostgresStore({ pool, schema });
});
