import pg from "pg";
import { afterAll, expect, it } from "vitest";
import { playPage, servePage } from "../../../test/support/api-page.ts";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import { openPostgresStore } from "./index.ts";

const { url } = await sharedPostgres();
const schema = `api_page_${process.pid}`;

afterAll(async () => {
  if (url === undefined) return;
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await admin.end();
});

it.skipIf(url === undefined)(
  "the curl lines of the page about the API work on PostgreSQL (S1-31)",
  async () => {
    const server = await servePage(await openPostgresStore({ connectionString: url ?? "", schema }));
    for (const { block, stdout } of await playPage(server.url))
      expect(stdout, block).not.toContain("urn:holdfast:error");
    expect(await server.engine.result("order-7")).toBe("yes");
    await server.stop();
  },
);
