import { expect, it } from "vitest";
import { contention } from "../../lab/crash/contention.ts";

it("eight processes share one SQLite file without a lock error, a large WAL or a broken promise", async () => {
  const { problems, runs, walBytes } = await contention({ seconds: 6 });
  console.log(`${runs} runs, WAL at most ${(walBytes / 1e6).toFixed(1)} MB`);
  expect(problems).toEqual([]);
  expect(runs).toBeGreaterThanOrEqual(64);
});
