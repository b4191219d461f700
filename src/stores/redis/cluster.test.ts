import { createCluster } from "redis";
import { afterAll, describe, expect, it } from "vitest";
import { sharedRedisCluster } from "../../../test/support/services/redis.ts";
import type { Store } from "../../core/store/contract.ts";
import { accepted, creation, idsByPages, step, storeConformance } from "../../testing/conformance/index.ts";
import { openRedisStore } from "./index.ts";

const server = await sharedRedisCluster();
const { url } = server;
const cluster = createCluster({ rootNodes: [url === undefined ? {} : { url }] });
if (url !== undefined) await cluster.connect();
afterAll(() => (url === undefined ? undefined : cluster.destroy()));

let count = 0;
const newPrefix = (): string => `c${process.pid}-${++count}`;

if (url === undefined) {
  it.skip(`the redis store on a cluster (skipped: ${server.missing})`, () => undefined);
} else {
  // The server refuses a script with keys in two slots, so every case proves that there is none.
  let prefix = "";
  const start = (): Promise<Store> => openRedisStore({ cluster, prefix });
  const fresh = (): Promise<Store> => {
    prefix = newPrefix();
    return start();
  };
  storeConformance({ name: "redis on a cluster", open: fresh, reopen: start }, { describe, it });
}

describe.skipIf(url === undefined)("a Redis cluster", () => {
  it("is found by the URL of one of its servers", async () => {
    const prefix = newPrefix();
    const store = await openRedisStore({ url: url as string, prefix });
    expect(store.capabilities.durability).toBe("power-loss");
    const ids = Array.from({ length: 30 }, (_, i) => `run-${i}`);
    await store.append(ids.map((id) => creation({ run: { id } })));
    expect((await idsByPages(store, { limit: 7 })).length).toBe(30);
    const row = await accepted(store, creation({ run: { id: "other" } }));
    expect(await store.append([step(row), step({ ...row, seq: 2 })])).toEqual([{ ok: true }, { ok: true }]);
    await store.close();
  });

  it("keeps limits only when one bucket holds all runs, and says so", async () => {
    const spread = await openRedisStore({ cluster, prefix: newPrefix() });
    expect(spread.capabilities.limits).toBe(false);
    await spread.close();
    const store = await openRedisStore({ cluster, prefix: newPrefix(), buckets: 1 });
    expect(store.capabilities.limits).toBe(true);
    const claimed = (id: string) => {
      const limits = [{ queue: "mail", most: 1 }];
      const claim = { kind: "acquire", owner: id, token: id, ttlMs: 1_000, limits } as const;
      return creation({ run: { id, queue: "mail" }, claim });
    };
    expect(await store.append([claimed("a")])).toEqual([{ ok: true }]);
    expect(await store.append([claimed("b")])).toEqual([{ ok: false, reason: "full", row: null }]);
    await store.close();
  });

  it("gets its runs spread over as many slots as there are buckets", async () => {
    const prefix = newPrefix();
    const store = await openRedisStore({ cluster, prefix, buckets: 32 });
    await store.append(Array.from({ length: 400 }, (_, i) => creation({ run: { id: `run-${i}` } })));
    const slots = new Set<unknown>();
    for (let i = 0; i < 32; i++) {
      const key = `{${prefix}.${i}}all`;
      expect(Number(await cluster.zCard(key))).toBeGreaterThan(0);
      slots.add(await cluster.sendCommand(key, true, ["CLUSTER", "KEYSLOT", key]));
    }
    expect(slots.size).toBe(32);
    await store.close();
    // The caller's client stays open.
    expect(await cluster.get("nothing")).toBeNull();
  });
});
