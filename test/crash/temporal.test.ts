import { afterAll, describe, expect, it } from "vitest";
import { startTemporal } from "../../lab/services/temporal.ts";
import { killWorkers } from "../../lab/temporal/killing.ts";
import { isExhaustive } from "../support/exhaustive.ts";
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
