import { describe, expect, it } from "vitest";
import { Openings } from "./openings.ts";

/** The breaks of a run that writes every millisecond, or leaves `gap` ms by itself now and then. */
function breaks(
  lastsMs: number,
  gap: { readonly every: number; readonly ms: number } | null = null,
): number[] {
  const openings = new Openings();
  const found: number[] = [];
  let landedAt = 0;
  for (let now = 1; now < lastsMs; now++) {
    if (gap && now % gap.every === 0) now += gap.ms;
    const ms = openings.due(now, landedAt);
    if (ms > 0) found.push(ms);
    now += ms;
    landedAt = now;
  }
  return found;
}

describe("a run that writes without a break", () => {
  it("leaves short breaks often and longer ones now and then, and they cost little (E9)", () => {
    const found = breaks(20_000);
    expect(found.slice(0, 8)).toEqual([20, 40, 20, 80, 20, 40, 20, 160]);
    expect(found.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(20_000 / 35);
  });

  it("leaves one of every length up to half a second (E9)", () => {
    expect(Math.max(...breaks(400_000))).toBe(640);
  });

  it("leaves none where it has some of its own (E9)", () => {
    expect(breaks(700, { every: 100, ms: 30 })).toEqual([]);
  });
});
