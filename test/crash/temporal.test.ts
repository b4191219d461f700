import { existsSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { startTemporal } from "../../lab/services/temporal.ts";
import { killWorkers } from "../../lab/temporal/killing.ts";
import type { Running } from "../support/console.ts";
import { callsIn, exampleProjects, start } from "../support/example-project.ts";
import { isExhaustive } from "../support/exhaustive.ts";
import { useFolders } from "../support/folders.ts";
import { sharedTemporal } from "../support/services/temporal.ts";

// Three kills and what follows take up to a minute on a busy machine: not in every run of the tests.
const { bundle, missing } = isExhaustive
  ? await sharedTemporal()
  : { bundle: "", missing: "exhaustive only" };
const server = missing === undefined ? await startTemporal() : undefined;
afterAll(() => server?.remove());

describe.skipIf(server === undefined)("S1-23 S1-64: runs on Temporal whose workers are killed", () => {
  it("go on with another worker, without repeating a saved step or doubling a `once` effect", async () => {
    if (!server) return;
    const report = await killWorkers({ server, bundle, kills: 3, serverKills: 0, runs: 3, workers: 2 });
    expect(report).toMatchObject({ kills: 3, repeatedSteps: [], doubled: [], wrong: [] });
    expect(report.recoveries.length).toBeGreaterThan(0);
  });
});

const projectWith = exampleProjects(useFolders("temporal-example"));

describe.skipIf(server === undefined)("S1-23: the example stock-team on Temporal", () => {
  it("finishes 54 subtasks of 13 agents while three of its workers are killed", async () => {
    const cwd = projectWith("stock-team");
    const engine = `--engine temporal://${server?.address}/default?queue=stocks`;
    const holdfast = (words: string): Running => start(`npx holdfast ${words} ${engine}`, cwd);
    const workers = [1, 2, 3].map(() => holdfast("worker flow.ts"));
    const calls = (): number => (existsSync(`${cwd}/calls.log`) ? Object.keys(callsIn(cwd)).length : 0);
    try {
      for (const worker of workers) await worker.until(["advances 1 workflow"]);
      const first = holdfast(
        "run flow.ts --id aapl -i stock_ticker=AAPL -i analysis_id=550e8400-e29b-41d4-a716-446655440000",
      );
      for (const [index, victim] of [first, ...workers.slice(0, 2)].entries()) {
        await expect.poll(calls, { timeout: 120_000 }).toBeGreaterThan(4 + 12 * index);
        victim.kill();
        await victim.ended;
      }
      // A worker has the run, so it is watched from outside until it asks.
      await expect
        .poll(async () => (await holdfast("gate show aapl:pm_gate").ended).exit, { timeout: 120_000 })
        .toBe(0);
      expect((await holdfast('gate approve aapl:pm_gate --comment "Go on."').ended).exit).toBe(0);
      await expect
        .poll(async () => (await holdfast("show aapl").ended).printed, { timeout: 120_000 })
        .toContain("✓ completed");
    } finally {
      for (const worker of workers) worker.kill();
    }
    const counts = Object.values(callsIn(cwd));
    expect(counts).toHaveLength(54);
    // Four agents work at once, so a kill interrupts at most four calls.
    expect(counts.reduce((sum, count) => sum + count - 1, 0)).toBeLessThanOrEqual(12);
  });
});
