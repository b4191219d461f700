import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { fanIn, sumOfDoubles } from "../../../test/support/fan-in.ts";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import { openPostgresStore } from "./index.ts";

const { url = "" } = await sharedPostgres();
const schema = `children${process.pid}`;
afterAll(async () => {
  if (url === "") return;
  const admin = new pg.Pool({ connectionString: url });
  await admin.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await admin.end();
});

describe.skipIf(url === "")("many children of one run on PostgreSQL", () => {
  it("ends 200 children, and reads in proportion to their number (E1, E8)", async () => {
    const store = await openPostgresStore({ connectionString: url, schema });
    const { result, entries, rows } = await fanIn(store, 200);
    await store.close();
    expect(result).toBe(sumOfDoubles(200));
    expect(entries).toBeLessThan(50 * 200 + 100);
    expect(rows).toBeLessThan(25 * 200 + 100);
  });
});
