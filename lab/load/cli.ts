/**
 * Loads `holdfast serve` on PostgreSQL: clients that follow all runs, requests at a steady rate, and two workers of which
 * one is killed again and again. Prints what it saw, and fails if an event was lost or came twice.
 *
 *   npm run load -- [clients=1000] [requests per second=200] [seconds=60] [runs per second=1]
 */
import { openPostgresStore } from "../../src/stores/postgres/index.ts";
import { startPostgres } from "../services/postgres.ts";
import { load } from "./load.ts";

const given = process.argv.slice(2).map(Number);
const [clients = 1_000, requestsPerSecond = 200, seconds = 60, runsPerSecond = 1] = given;

const postgres = await startPostgres();
if (!postgres) throw new Error("PostgreSQL isn't installed here");
const store = await openPostgresStore({ connectionString: postgres.url });
try {
  const options = { clients, requestsPerSecond, seconds, runsPerSecond, killMs: 7_000 };
  const report = await load({ ...options, address: postgres.url, store });
  console.log(JSON.stringify(report, null, 2));
  const { missing, early, doubled, resyncs } = report;
  process.exitCode = missing + early + doubled + resyncs === 0 ? 0 : 1;
} finally {
  await store.close();
  await postgres.remove();
}
