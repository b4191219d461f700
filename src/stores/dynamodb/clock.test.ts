import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FRESH_MS, ServiceClock } from "./clock.ts";

const header = (time: number): string => new Date(Math.floor(time / 1000) * 1000).toUTCString();

/** Simulates a machine whose clock differs from the service's, and calls of a given duration. */
function machine(difference: number) {
  let time = 1_800_000_000_123;
  const clock = new ServiceClock(() => time);
  return {
    clock,
    real: () => time + difference,
    wait: (ms: number) => {
      time += ms;
    },
    set: (ms: number) => {
      difference += ms;
    },
    call(there: number, back: number) {
      const sent = time;
      time += there;
      const date = header(time + difference);
      time += back;
      clock.answered(sent, date);
    },
  };
}

describe("the service's clock", () => {
  it("is known to half a second and the time of the call after one answer", () => {
    const times = fc.tuple(
      fc.integer({ min: -1e10, max: 1e10 }),
      fc.integer({ min: 0, max: 300 }),
      fc.integer({ min: 0, max: 300 }),
    );
    fc.assert(
      fc.property(times, ([difference, there, back]) => {
        const { clock, call, real } = machine(difference);
        call(there, back);
        expect(Math.abs(clock.now() - real())).toBeLessThanOrEqual(501 + (there + back) / 2);
      }),
    );
  });

  it("is known ever better the more answers come", () => {
    const { clock, call, real, wait } = machine(-123_456);
    for (let i = 0; i < 100; i++) {
      call(2, 3);
      wait(137);
    }
    expect(Math.abs(clock.now() - real())).toBeLessThan(80);
  });

  it("is followed when one of the two was set", () => {
    const { clock, call, real, wait, set } = machine(500);
    for (let i = 0; i < 10; i++) {
      call(2, 3);
      wait(137);
    }
    set(3_600_000);
    call(2, 3);
    expect(Math.abs(clock.now() - real())).toBeLessThan(600);
  });

  it("is the machine's while there was no answer that names the time", () => {
    const clock = new ServiceClock();
    clock.answered(clock.local(), undefined);
    clock.answered(clock.local(), "yesterday");
    expect(clock.isFresh).toBe(false);
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1000);
  });

  it("is asked for again when no answer came for a while", () => {
    const { clock, call, wait } = machine(0);
    call(1, 1);
    expect(clock.isFresh).toBe(true);
    wait(FRESH_MS);
    expect(clock.isFresh).toBe(false);
  });
});
