import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createFakeClock } from "./fake-clock.ts";

describe("createFakeClock", () => {
  it("stands still until it is moved", async () => {
    const clock = createFakeClock({ start: 1000 });
    await clock.settle();
    expect([clock.now(), clock.monotonic()]).toEqual([1000, 0]);
    await clock.advance(250);
    expect([clock.now(), clock.monotonic()]).toEqual([1250, 250]);
  });

  it("starts at a fixed date unless told otherwise", () => {
    expect(createFakeClock().now()).toBe(Date.UTC(2026, 0, 1));
  });

  it("fires a timer exactly when it is due, and once", async () => {
    const clock = createFakeClock({ start: 0 });
    const fired: number[] = [];
    clock.setTimer(() => fired.push(clock.now()), 100);
    await clock.advance(99);
    expect(fired).toEqual([]);
    await clock.advance(1);
    await clock.advance(1000);
    expect(fired).toEqual([100]);
  });

  it("fires timers in order of time, then in the order they were set", async () => {
    const clock = createFakeClock({ start: 0 });
    const order: string[] = [];
    for (const [name, ms] of [
      ["c", 30],
      ["a", 10],
      ["b1", 20],
      ["b2", 20],
    ] as const) {
      clock.setTimer(() => order.push(`${name}@${clock.now()}`), ms);
    }
    await clock.advance(100);
    expect(order).toEqual(["a@10", "b1@20", "b2@20", "c@30"]);
    expect(clock.now()).toBe(100);
  });

  it("fires every due timer in time order, whatever the delays are", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(100), { maxLength: 12 }), fc.nat(100), async (delays, ms) => {
        const clock = createFakeClock({ start: 0 });
        const fired: [number, number][] = [];
        delays.forEach(
          (delay, index) => void clock.setTimer(() => fired.push([clock.monotonic(), index]), delay),
        );
        await clock.advance(ms);
        const expected = delays.map((delay, index): [number, number] => [delay, index]);
        expect(fired).toEqual(expected.filter(([at]) => at <= ms).sort((x, y) => x[0] - y[0] || x[1] - y[1]));
        expect(clock.pending()).toBe(delays.length - fired.length);
      }),
      { numRuns: 50 },
    );
  });

  it("fires timers that timers set inside the window", async () => {
    const clock = createFakeClock({ start: 0 });
    const fired: number[] = [];
    const again = (): void => {
      fired.push(clock.now());
      clock.setTimer(again, 10);
    };
    clock.setTimer(again, 10);
    await clock.advance(35);
    expect(fired).toEqual([10, 20, 30]);
    expect([clock.now(), clock.pending()]).toEqual([35, 1]);
  });

  it("fires timers that an asynchronous chain sets inside the window", async () => {
    const clock = createFakeClock({ start: 0 });
    const sleep = (ms: number): Promise<void> => new Promise((resolve) => void clock.setTimer(resolve, ms));
    const at: number[] = [];
    const worker = (async () => {
      for (let i = 0; i < 3; i++) {
        await sleep(10);
        await new Promise<void>((resolve) => clock.defer(resolve));
        at.push(clock.now());
      }
    })();
    await clock.advance(30);
    await worker;
    expect(at).toEqual([10, 20, 30]);
  });

  it("drains promises and deferred callbacks between two timers", async () => {
    const clock = createFakeClock({ start: 0 });
    const order: string[] = [];
    clock.setTimer(() => {
      order.push("first");
      clock.defer(() => order.push("deferred"));
      void Promise.resolve().then(() => order.push("microtask"));
    }, 10);
    clock.setTimer(() => order.push("second"), 10);
    await clock.advance(10);
    expect(order).toEqual(["first", "microtask", "deferred", "second"]);
  });

  it("does not fire a timer that was cancelled, also by an earlier timer", async () => {
    const clock = createFakeClock({ start: 0 });
    const callback = vi.fn();
    const cancel = clock.setTimer(callback, 20);
    clock.setTimer(() => cancel(), 10);
    await clock.advance(100);
    expect(callback).not.toHaveBeenCalled();
    expect(clock.pending()).toBe(0);
  });

  it("fires a timer without delay only when time is advanced", async () => {
    const clock = createFakeClock({ start: 0 });
    const callback = vi.fn();
    clock.setTimer(callback, 0);
    clock.setTimer(callback, -5);
    await clock.settle();
    expect(callback).not.toHaveBeenCalled();
    await clock.advance(0);
    expect(callback).toHaveBeenCalledTimes(2);
    expect(clock.monotonic()).toBe(0);
  });

  it("takes delays beyond the platform's limit", async () => {
    const clock = createFakeClock({ start: 0 });
    const callback = vi.fn();
    clock.setTimer(callback, 2 ** 40);
    await clock.advance(2 ** 40 - 1);
    expect(callback).not.toHaveBeenCalled();
    await clock.advance(1);
    expect(callback).toHaveBeenCalledTimes(1);
  });

  it("passes on what a timer throws, and goes on afterwards", async () => {
    const clock = createFakeClock({ start: 0 });
    const callback = vi.fn();
    clock.setTimer(() => {
      throw new Error("broken");
    }, 10);
    clock.setTimer(callback, 20);
    await expect(clock.advance(50)).rejects.toThrow("broken");
    expect(clock.now()).toBe(10);
    await clock.advance(10);
    expect(callback).toHaveBeenCalledTimes(1);
  });
});

describe("jump", () => {
  it("moves wall time only, either way", async () => {
    const clock = createFakeClock({ start: 1000 });
    const callback = vi.fn();
    clock.setTimer(callback, 100);
    clock.jump(-5000);
    expect([clock.now(), clock.monotonic()]).toEqual([-4000, 0]);
    clock.jump(3_600_000);
    await clock.settle();
    expect(callback).not.toHaveBeenCalled();
    await clock.advance(100);
    expect(callback).toHaveBeenCalledTimes(1);
    expect([clock.now(), clock.monotonic()]).toEqual([3_596_100, 100]);
  });
});

describe("settle", () => {
  it("runs deferred callbacks in order, microtasks between them", async () => {
    const clock = createFakeClock();
    const order: string[] = [];
    clock.defer(() => {
      order.push("one");
      void Promise.resolve().then(() => order.push("microtask of one"));
    });
    clock.defer(() => order.push("two"));
    await clock.settle();
    expect(order).toEqual(["one", "microtask of one", "two"]);
  });

  it("never runs a deferred callback before it is asked to", async () => {
    const clock = createFakeClock();
    const callback = vi.fn();
    clock.defer(callback);
    await new Promise((resolve) => setImmediate(resolve));
    expect(callback).not.toHaveBeenCalled();
    await clock.settle();
    expect(callback).toHaveBeenCalledTimes(1);
  });

  it("follows long chains of promises and deferred callbacks to their end", async () => {
    const clock = createFakeClock();
    let done = false;
    void (async () => {
      for (let i = 0; i < 100; i++) {
        for (let j = 0; j < 50; j++) await Promise.resolve();
        await new Promise<void>((resolve) => clock.defer(resolve));
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      done = true;
    })();
    await clock.settle();
    expect(done).toBe(true);
  });

  it("lets no time pass", async () => {
    const clock = createFakeClock({ start: 5 });
    const callback = vi.fn();
    clock.setTimer(callback, 1);
    clock.defer(() => undefined);
    await clock.settle();
    expect([clock.now(), clock.monotonic(), clock.pending()]).toEqual([5, 0, 1]);
    expect(callback).not.toHaveBeenCalled();
  });

  it("works while the test framework's own fake timers are on", async () => {
    vi.useFakeTimers();
    try {
      const clock = createFakeClock();
      const callback = vi.fn();
      clock.defer(callback);
      await clock.settle();
      expect(callback).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
    }
  });
});
