import { describe, expect, it } from "vitest";
import { sloFigures } from "./slo.ts";

const runs = { completed: 97, completedAfterRecovery: 1, failed: 3, cancelled: 0, completionRate: 0.97 };
const report = {
  since: 0,
  until: 1,
  looked: 100,
  more: false,
  unreadable: [],
  incidents: [],
  runs,
  ms: { p50: 1_000, p95: 12_000, most: 12_000 },
};

describe("the targets of reliability", () => {
  it("are met or missed only where something was measured", () => {
    expect(sloFigures(report, undefined).map(({ verdict }) => verdict)).toEqual([
      null,
      "met",
      "missed",
      null,
    ]);
    expect(sloFigures(undefined, undefined).map(({ value }) => value)).toEqual([
      "not measured yet",
      "–",
      "–",
      "not measured yet",
    ]);
  });
});
