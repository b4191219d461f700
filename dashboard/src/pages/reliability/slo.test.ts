import { describe, expect, it } from "vitest";
import { sloFigures } from "./slo.ts";

const target = { severity: "P2", set: null } as const;
const report = {
  at: 0,
  ok: false,
  objectives: [
    {
      name: "write",
      unit: "ms",
      better: "less",
      windowMs: 3_600_000,
      value: 22.04,
      measured: 100,
      goal: 15,
      alarm: 50,
      state: "missed",
      budgetLeft: -0.2,
      ...target,
    },
    {
      name: "cost",
      unit: "usd",
      better: "less",
      windowMs: 86_400_000,
      value: null,
      measured: 0,
      goal: null,
      alarm: null,
      state: "watched",
      budgetLeft: null,
      ...target,
    },
  ],
  runs: {
    completed: 0,
    failed: 0,
    completedAfterRecovery: 0,
    looked: 0,
    more: false,
    recoveries: 0,
    unrecovered: 0,
    costAfterRecovery: null,
  },
  writeFailures: { count: 0, runs: {} },
  probes: { count: 0, failed: 0, failedAt: null, awayMs: 0 },
} satisfies Parameters<typeof sloFigures>[0];

describe("the targets of reliability", () => {
  it.each([
    [0.846153, "84.6\u00a0%"],
    [0.999987, "99.9987\u00a0%"],
    [1.076923, "107.6\u00a0%"],
    [1, "100\u00a0%"],
  ])("show a share with the digits that matter, and never rounded up: %f", (value, text) => {
    const objectives = report.objectives.map((one) => ({ ...one, unit: "share" as const, value }));
    expect(sloFigures({ ...report, objectives })[0]?.value).toBe(text);
  });

  it("show figure, target and budget, and nothing where nothing was measured (S1-57)", () => {
    const [write, cost] = sloFigures(report);
    expect(write).toMatchObject({ value: "22 ms", target: "≤\u00a015 ms", verdict: "missed" });
    expect(write?.note).toContain("1.2 × the budget used");
    expect(cost).toMatchObject({ value: "–", target: null, verdict: "watched" });
    expect(cost?.note).toContain("nothing to measure");
  });
});
