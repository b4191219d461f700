import { afterAll, describe, expect, it } from "vitest";
import { queuesUnderKills } from "../../lab/queues/queues.ts";
import { startRedis } from "../support/services/redis.ts";

const redis = await startRedis();
afterAll(() => redis?.remove());

const STORES = [["SQLite", undefined] as const, ...(redis ? [["Redis", redis.url] as const] : [])];

describe.each(STORES)("a queue on %s", (_, url) => {
  it("never has more runs of it or of a key at work than allowed while workers are killed, and all end", async () => {
    const promised = { concurrency: 5, perKey: 1, calls: 20, periodMs: 2_000 };
    const report = await queuesUnderKills({
      processes: 3,
      runs: 40,
      keys: 12,
      kills: 3,
      workMs: 100,
      seed: 1,
      promised,
      rate: "calls",
      ...(url === undefined ? {} : { url }),
    });
    console.log(JSON.stringify(report));
    expect(report.problems).toEqual([]);
    expect(report.kills).toBe(3);
  });
});
