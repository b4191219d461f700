import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "./clock.ts";

describe("systemClock", () => {
  it("tells wall time in epoch milliseconds", () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it("has a monotonic time that never goes back", () => {
    let last = systemClock.monotonic();
    for (let i = 0; i < 1000; i++) {
      const next = systemClock.monotonic();
      expect(next).toBeGreaterThanOrEqual(last);
      last = next;
    }
  });

  it("defers until after the microtasks that are pending", async () => {
    const order: string[] = [];
    const deferred = new Promise<void>((resolve) => {
      systemClock.defer(() => {
        order.push("deferred");
        resolve();
      });
    });
    void Promise.resolve()
      .then(() => order.push("first microtask"))
      .then(() => order.push("second microtask"));
    await deferred;
    expect(order).toEqual(["first microtask", "second microtask", "deferred"]);
  });

  it("keeps the process alive for a timer, but not for a background timer", () => {
    const active = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = active();
    const cancelBackground = systemClock.setTimer(() => undefined, 60_000, { background: true });
    expect(active()).toBe(before);
    const cancel = systemClock.setTimer(() => undefined, 60_000);
    expect(active()).toBe(before + 1);
    cancel();
    cancelBackground();
    expect(active()).toBe(before);
  });
});

describe("systemClock.setTimer", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("calls back once, after the delay", () => {
    const callback = vi.fn();
    systemClock.setTimer(callback, 50);
    vi.advanceTimersByTime(49);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1000);
    expect(callback).toHaveBeenCalledTimes(1);
  });

  it("does not call back once cancelled", () => {
    const callback = vi.fn();
    const cancel = systemClock.setTimer(callback, 50);
    cancel();
    cancel();
    vi.advanceTimersByTime(1000);
    expect(callback).not.toHaveBeenCalled();
  });

  it("waits out delays longer than the platform's longest", () => {
    const callback = vi.fn();
    const delay = 3 * (2 ** 31 - 1) + 5;
    systemClock.setTimer(callback, delay);
    vi.advanceTimersByTime(delay - 1);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledTimes(1);
  });

  it("can cancel a long delay after it was re-armed", () => {
    const callback = vi.fn();
    const delay = 2 * (2 ** 31 - 1);
    const cancel = systemClock.setTimer(callback, delay);
    vi.advanceTimersByTime(2 ** 31 + 10);
    cancel();
    vi.advanceTimersByTime(delay);
    expect(callback).not.toHaveBeenCalled();
  });

  it("treats a negative delay and NaN as no delay", () => {
    const callback = vi.fn();
    systemClock.setTimer(callback, -5);
    systemClock.setTimer(callback, Number.NaN);
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledTimes(2);
  });
});
