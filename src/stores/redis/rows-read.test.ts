import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedRedis } from "../../../test/support/services/redis.ts";
import type { Store } from "../../core/store/contract.ts";
import { creation } from "../../testing/conformance/index.ts";
import { openRedisStore } from "./index.ts";

const { url } = await sharedRedis();
const client = createClient(url === undefined ? {} : { url });
beforeAll(async () => void (url && (await client.connect())));
afterAll(async () => {
  if (url === undefined) return;
  for await (const keys of client.scanIterator({ MATCH: `{rows-${process.pid}-*`, COUNT: 1000 }))
    if (keys.length > 0) await client.unlink(keys);
  client.destroy();
});

let count = 0;

/** A store with 300 runs of one queue, of which two run and three wait for something else, that counts rows as they are read. */
async function stage(): Promise<{ store: Store; rowsRead: () => number }> {
  let rows = 0;
  const store = await openRedisStore({
    prefix: `rows-${process.pid}-${++count}`,
    buckets: 4,
    client: {
      sendCommand(args) {
        if (args[0] === "HMGET" && args.includes("projection")) rows++;
        return client.sendCommand(args);
      },
    },
  });
  const free = { kind: "release" } as const;
  const run = (n: number, more: object) =>
    creation({
      run: { id: `run-${n}`, queue: "q", key: "ada", wakeAt: n, createdAt: n, ...more },
      claim: free,
    });
  const queued = Array.from({ length: 295 }, (_, n) => run(n, { status: "queued" }));
  const running = [run(400, { status: "running" }), run(401, { status: "running", labels: { team: "red" } })];
  const others = [402, 403, 404].map((n) => run(n, { status: "queued", queue: "other" }));
  await store.append([...queued, ...running, ...others]);
  rows = 0;
  return { store, rowsRead: () => rows };
}

describe.skipIf(url === undefined)("a Redis store", () => {
  it("reads no rows but those that match every filter of a list", async () => {
    const { store, rowsRead } = await stage();
    const ids = async (query: object) => (await store.list({ limit: 10, ...query })).runs.map(({ id }) => id);
    expect(await ids({ queue: "q", status: ["running"] })).toEqual(["run-401", "run-400"]);
    expect(await ids({ queue: "q", key: "ada", status: ["running", "waiting"] })).toHaveLength(2);
    expect(await ids({ workflow: "orders", key: "ada", labels: { team: "red" } })).toEqual(["run-401"]);
    expect(rowsRead()).toBe(5);
    await store.close();
  });

  it("reads no rows of parts of queues that it is asked to leave out", async () => {
    const { store, rowsRead } = await stage();
    const without = [{ queue: "q", key: "ada" }];
    const due = await store.due({ workflows: ["orders"], limit: 10, without });
    expect(due.map(({ id }) => id)).toEqual(["run-400", "run-401", "run-402", "run-403", "run-404"]);
    expect(rowsRead()).toBe(5);
    await store.close();
  });
});
