import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { load } from "../../lab/load/load.ts";
import { openPostgresStore } from "../../src/stores/postgres/index.ts";
import { sharedPostgres } from "../support/services/postgres.ts";

const { url = "" } = await sharedPostgres();
const database = `streams_${process.pid}`;
const admin = new pg.Pool({ connectionString: url });
// A connection that the server ends while it is idle is replaced by the pool.
admin.on("error", () => undefined);
// The database goes with the server. Dropping it would end connections that are just being closed.
afterAll(() => admin.end());

describe.skipIf(url === "")("streams of a server", () => {
  it("tell 50 clients every event once while workers are killed, and leave nothing behind (S1-32)", async () => {
    await admin.query(`CREATE DATABASE ${database}`);
    const address = new URL(url);
    address.pathname = `/${database}`;
    const store = await openPostgresStore({ connectionString: address.href });
    try {
      const report = await load({
        address: address.href,
        store,
        clients: 50,
        requestsPerSecond: 20,
        runsPerSecond: 2,
        seconds: 5,
        killMs: 2_000,
      });
      console.log(JSON.stringify(report));
      const { missing, early, doubled, resyncs, kills, runs, events, statuses, memory } = report;
      expect({ missing, early, doubled, resyncs }).toEqual({ missing: 0, early: 0, doubled: 0, resyncs: 0 });
      expect(kills).toBeGreaterThan(0);
      expect(runs).toBeGreaterThan(5);
      expect(events).toBeGreaterThanOrEqual(50 * runs * 13);
      expect(Object.keys(statuses)).toEqual(["200"]);
      expect(memory.followed.sockets).toBeGreaterThanOrEqual(50);
      // Those to the store may be in use.
      expect(memory.after.sockets).toBeLessThanOrEqual(5);
    } finally {
      await store.close();
    }
  });
});
