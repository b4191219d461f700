import { describe, expect, it } from "vitest";
import { crashMatrix } from "../../lab/crash/matrix.ts";
import { scenarioNames } from "../../lab/crash/scenarios.ts";
import { sampled } from "../support/exhaustive.ts";

const LIMIT = sampled(12);

describe("a worker process killed at any place", () => {
  it.each(scenarioNames)(
    "leaves %s to end as if nothing had happened (S0-11, S0-18, S1-05, S1-10, S2-01, S4-01)",
    async (scenario) => {
      const { problems, ...figures } = await crashMatrix({ scenario, limit: LIMIT });
      const { cases, possible, kills, missed, seconds } = figures;
      console.log(
        `${scenario}: ${cases} of ${possible} cases, ${kills} kills, ${missed} missed, ${seconds.toFixed(1)} s`,
      );
      expect(problems).toEqual([]);
      expect(kills).toBeGreaterThanOrEqual(cases * 0.75);
    },
  );
});
