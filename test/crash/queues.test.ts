import { expect, it } from "vitest";
import { queuesUnderKills } from "../../lab/queues/queues.ts";

it("never has more runs of a queue or a key at work than allowed while workers are killed, and all runs end", async () => {
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
  });
  console.log(JSON.stringify(report));
  expect(report.problems).toEqual([]);
  expect(report.kills).toBe(3);
});
