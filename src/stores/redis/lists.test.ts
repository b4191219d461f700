import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RedisServer, startRedis } from "../../../test/support/services/redis.ts";
import { missing } from "../../../test/support/services/service.ts";
import type { Store } from "../../core/store/contract.ts";
import { accepted, creation, step } from "../../testing/conformance/index.ts";
import { openRedisStore } from "./index.ts";

const server = (await startRedis()) as RedisServer;
if (!server) missing("Redis", "it is not installed");

const admin = createClient({ url: server?.url ?? "" });
admin.on("error", () => undefined);
beforeAll(async () => void (server && (await admin.connect())));
afterAll(async () => {
  if (!server) return;
  admin.destroy();
  await server.remove();
});

const FAMILIES = ["all", "at", "of", "under", "due", "held", "wake"] as const;
const WORKFLOWS = { workflows: ["a", "b"], limit: 100 };

/** Creates a store with runs of two workflows in several states, free and claimed, with and without a parent. */
async function filled(prefix: string, warn: () => void = () => undefined): Promise<Store> {
  const store = await openRedisStore({ url: server.url, prefix, buckets: 2, logger: { warn } });
  for (let n = 0; n < 12; n++) {
    const parent = n % 4 === 1 ? { runId: "run-0", step: "child", lineage: "run-0" } : null;
    const workflow = n % 2 === 0 ? "a" : "b";
    const row = await accepted(store, creation({ run: { id: `run-${n}`, workflow, parent } }));
    if (n % 3 === 0) await accepted(store, step(row, { claim: { kind: "release" } }));
    if (n % 3 === 1) await accepted(store, step(row, { run: { status: "completed", wakeAt: null } }));
  }
  return store;
}

/** Every list with its content. */
async function lists(prefix: string): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const key of (await admin.keys(`{${prefix}.*`)).sort())
    if (!key.includes("}log:") && (await admin.type(key)) === "zset")
      found[key] = await admin.zRangeWithScores(key, 0, -1);
  return found;
}

const familyOf = (key: string): string => /\}(\w+)/.exec(key)?.[1] ?? "";

async function lose(prefix: string, families: readonly string[]): Promise<void> {
  const keys = Object.keys(await lists(prefix)).filter((key) => families.includes(familyOf(key)));
  expect(new Set(keys.map(familyOf))).toEqual(new Set(families));
  await admin.del(keys);
}

describe.skipIf(!server)("lists of runs that were lost (D11)", () => {
  it("are made again from the rows by whoever asks for due runs, each of them and all at once", async () => {
    const store = await filled("walked");
    const before = await lists("walked");
    expect(await store.check?.()).toEqual([]);
    for (const families of [...FAMILIES.map((one) => [one]), FAMILIES]) {
      await lose("walked", families);
      expect(await store.check?.(), families.join()).toEqual([
        expect.stringContaining("missing in the lists"),
      ]);
      for (let n = 0; n < 30; n++) await store.due(WORKFLOWS);
      expect(await lists("walked"), families.join()).toEqual(before);
      expect(await store.check?.()).toEqual([]);
    }
    await store.close();
  });

  it("are made again before runs are listed by them", async () => {
    const told: unknown[] = [];
    const store = await filled("listed", () => told.push(1));
    const ended = { status: ["completed" as const], limit: 100 };
    const [all, completed] = [await store.list({ limit: 100 }), await store.list(ended)];
    expect([all.runs.length, completed.runs.length]).toEqual([12, 4]);
    await lose("listed", ["all"]);
    expect(await store.list({ limit: 100 })).toEqual(all);
    await lose("listed", ["at"]);
    expect(await store.list(ended)).toEqual(completed);
    expect(told.length).toBeGreaterThan(0);
    await store.close();
  });

  it("are left to others by one who may not look through all keys", async () => {
    await admin.sendCommand("ACL SETUSER narrow on >word ~* &* +@all -scan".split(" "));
    const store = await filled("narrow");
    const url = server.url.replace("redis://", "redis://narrow:word@");
    const narrow = await openRedisStore({ url, prefix: "narrow" });
    await lose("narrow", ["all"]);
    expect((await narrow.list({ limit: 100 })).runs).toEqual([]);
    for (let n = 0; n < 30; n++) await narrow.due(WORKFLOWS);
    expect((await store.list({ limit: 100 })).runs).toHaveLength(12);
    await narrow.close();
    await store.close();
  });
});
