import { describe, expect, it } from "vitest";
import { dueTicks, intervalTicks, jitterOf, oneTick, within } from "./ticks.ts";

const MINUTE = 60_000;
const none = () => 0;

describe("due ticks", () => {
  const ticks = intervalTicks(MINUTE, 0);

  it("are those since the last one that was done with", () => {
    const due = dueTicks(ticks, 5 * MINUTE, 6 * MINUTE, { most: 1, withinMs: Infinity }, none);
    expect(due).toEqual({ ticks: [6 * MINUTE], missed: undefined, nextAt: 7 * MINUTE });
  });

  it("after downtime are the newest few, and the rest counts as missed", () => {
    const due = dueTicks(ticks, 0, 1_000 * MINUTE, { most: 2, withinMs: Infinity }, none);
    // The last two are on time: they are at most a minute late.
    expect(due.ticks).toEqual([997, 998, 999, 1_000].map((n) => n * MINUTE));
    expect(due.missed).toEqual({ from: MINUTE, to: 996 * MINUTE });
  });

  it("are never older than the rule allows", () => {
    const due = dueTicks(ticks, 0, 1_000.5 * MINUTE, { most: 100, withinMs: 3 * MINUTE }, none);
    expect(due.ticks).toEqual([998, 999, 1_000].map((n) => n * MINUTE));
    const nothing = dueTicks(oneTick(MINUTE), 0, 1_000 * MINUTE, { most: 5, withinMs: MINUTE }, none);
    expect(nothing).toEqual({ ticks: [], missed: { from: MINUTE, to: MINUTE }, nextAt: null });
  });

  it("wait for their jitter, which depends on schedule and tick alone", () => {
    const jitter = (tick: number) => jitterOf("nightly", tick, 30_000);
    const tick = 6 * MINUTE;
    expect(jitter(tick)).toBe(jitterOf("nightly", tick, 30_000));
    expect(jitter(tick)).not.toBe(jitterOf("hourly", tick, 30_000));
    const due = dueTicks(ticks, 5 * MINUTE, tick, { most: 1, withinMs: Infinity }, jitter);
    expect(due).toEqual({ ticks: [], missed: undefined, nextAt: tick + jitter(tick) });
    expect(dueTicks(ticks, 5 * MINUTE, tick + jitter(tick), { most: 1, withinMs: 1 }, jitter).ticks).toEqual([
      tick,
    ]);
  });

  it("stay between start and end", () => {
    const some = within(ticks, 3 * MINUTE, 5 * MINUTE);
    expect([some.next(0), some.next(3 * MINUTE), some.next(5 * MINUTE)]).toEqual([
      3 * MINUTE,
      4 * MINUTE,
      null,
    ]);
    expect(some.last(Infinity, 10)).toEqual([3, 4, 5].map((n) => n * MINUTE));
  });
});
