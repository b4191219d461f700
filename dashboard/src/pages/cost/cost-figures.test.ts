import { describe, expect, it } from "vitest";
import { costText } from "../../ui/numbers.ts";
import { chartOf } from "./cost-figures.ts";

const none = { tokens: 0, costUsd: 0, unpriced: 0 };

describe("figures of cost", () => {
  it("never show tokens without a price as if they cost nothing (S3-32)", () => {
    expect(costText({ costUsd: null, unpriced: 10 })).toBe("unpriced");
    expect(costText({ costUsd: 1.5, unpriced: 10 })).toBe("$1.50 + unpriced");
    expect(costText(none)).toBe("$0.00");
  });

  it("draw what was wasted as a part of what was spent, and every day", () => {
    const day = new Date().toISOString().slice(0, 10);
    const group = {
      ...none,
      name: day,
      costUsd: 3,
      wasted: { ...none, costUsd: 1 },
      saved: { ...none, steps: 0, ms: 0 },
      runs: 1,
      interrupted: 0,
      steps: 1,
    };
    const chart = chartOf(
      {
        by: "day",
        total: group,
        groups: [group],
        recovery: { interrupted: 0, withoutRecovery: 1 },
        more: false,
      },
      Date.now() - 86_400_000,
    );
    expect(chart.labels.at(-1)).toBe(day);
    expect(chart.labels).toHaveLength(2);
    expect(chart.series.map(({ values }) => values)).toEqual([
      [0, 1],
      [0, 2],
    ]);
  });
});
