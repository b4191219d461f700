import { runConformanceTests } from "@durable-streams/server-conformance-tests";
import pg from "pg";
import { afterAll, beforeAll, describe } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import { serveStreams } from "../../../test/support/streams.ts";
import { openPostgresStore } from "./index.ts";

const { url } = await sharedPostgres();
const schema = `streams-${process.pid}`;

/** Without its subscriptions, as on SQLite. */
describe("the Durable Streams protocol on PostgreSQL", () => {
  const config = { baseUrl: "", longPollTimeoutMs: 500 };
  const pool = new pg.Pool({ connectionString: url, max: 8 });
  let stop = async (): Promise<void> => undefined;
  beforeAll(async () => {
    const served = await serveStreams(await openPostgresStore({ pool, schema }));
    config.baseUrl = served.url;
    stop = served.stop;
  });
  afterAll(async () => {
    await stop();
    await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    await pool.end();
  });
  runConformanceTests(config);
});
