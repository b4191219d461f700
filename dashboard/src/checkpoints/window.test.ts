import { describe, expect, it } from "vitest";
import { newerWindow, otherWindow, WINDOW } from "./window.ts";

/** What the server returns: the newest checkpoints before a position. Every second position is one. */
const NEWEST = 2_000;
const shownBefore = (end: number | undefined) =>
  Array.from({ length: NEWEST / 2 }, (_, index) => ({ seq: 2 * (index + 1) }))
    .filter(({ seq }) => end === undefined || seq < end)
    .slice(-WINDOW);

describe("the window of a long run's checkpoints", () => {
  it.each([2, 20, 1_000, 1_599, 1_600, 1_999])("is moved to where %i is", (at) => {
    const newest = shownBefore(undefined);
    const end = otherWindow(newest, at, undefined, NEWEST);
    const shown = end === null ? newest : shownBefore(end);
    expect(shown.some(({ seq }) => seq === at - (at % 2))).toBe(true);
    expect(otherWindow(shown, at, end ?? undefined, NEWEST)).toBe(null);
  });

  it("goes back to now, and to a newer checkpoint", () => {
    expect(otherWindow(shownBefore(300), null, 300, NEWEST)).toBe(undefined);
    expect(otherWindow(shownBefore(300), 900, 300, NEWEST)).toBe(1_001);
    expect(otherWindow(shownBefore(300), 200, 300, NEWEST)).toBe(null);
  });

  it("leaves none out on the way to the newest", () => {
    let end: number | undefined = 101;
    let seen = 0;
    for (let shown = shownBefore(end); end !== undefined; shown = shownBefore(end)) {
      const last = shown.at(-1)?.seq ?? 0;
      expect(shown[0]?.seq ?? 0).toBeLessThanOrEqual(seen + 2);
      seen = last;
      end = newerWindow(shown, NEWEST);
    }
    expect(shownBefore(undefined)[0]?.seq).toBeLessThanOrEqual(seen + 2);
  });

  it("stays where a run has fewer checkpoints than a window", () => {
    expect(otherWindow([{ seq: 5 }, { seq: 9 }], 2, undefined, 9)).toBe(null);
    expect(otherWindow([], 2, undefined, 9)).toBe(null);
  });
});
