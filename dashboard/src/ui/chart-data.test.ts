import { describe, expect, it } from "vitest";
import { daysBetween, stacked, summaryOf } from "./chart-data.ts";

const data = {
  labels: ["2026-11-01", "2026-11-02"],
  series: [
    { name: "Spent", colour: "accent" as const, values: [1, 2] },
    { name: "Wasted", colour: "bad" as const, values: [null, 3] },
  ],
};

describe("the data of a chart", () => {
  it("stacks series, the highest first", () => {
    expect(stacked(data)).toEqual([
      [1, 5],
      [1, 2],
    ]);
  });

  it("says in words what is drawn", () => {
    const text = summaryOf(data, (value) => `$${value}`);
    expect(text).toContain("2026-11-01 to 2026-11-02");
    expect(text).toContain("Wasted: $3 in all, most on 2026-11-02 ($3)");
  });

  it("has a place for each day", () => {
    const from = Date.parse("2026-10-30T22:00:00Z");
    expect(daysBetween(from, from + 2 * 86_400_000)).toEqual(["2026-10-30", "2026-10-31", "2026-11-01"]);
  });
});
