import type { Clock } from "../core/clock.ts";

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /** Moves time forward and fires every timer that falls due, in order, including those set on the way. */
  advance(ms: number): Promise<void>;
  /** Moves wall time only, either way, as a corrected system clock does. */
  jump(ms: number): void;
  /** Runs deferred callbacks and promise chains until nothing is left to do. No time passes. */
  settle(): Promise<void>;
  /** How many timers are set. */
  pending(): number;
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

export interface FakeClockOptions {
  /** Wall time at the start. */
  readonly start?: number;
  /**
   * How many turns of the event loop must pass without anything new before things count as settled. One turn drains all promises of code
   * that does no I/O; real I/O may need a few. Default 4.
   */
  readonly quietTurns?: number;
}

const DEFAULT_START = Date.UTC(2026, 0, 1);

// Taken at load, so that a test framework's fake timers cannot stop it.
const realImmediate = setImmediate;
const turn = (): Promise<void> => new Promise((resolve) => void realImmediate(resolve));

/**
 * Makes a clock for tests: no real time passes and nothing sleeps.
 *
 * @example
 * ```ts
 * import { createFakeClock } from "holdfast/testing";
 *
 * const clock = createFakeClock();
 * let fired = false;
 * clock.setTimer(() => { fired = true; }, 60_000);
 * await clock.advance(60_000);
 * ```
 */
export function createFakeClock({ start = DEFAULT_START, quietTurns = 4 }: FakeClockOptions = {}): FakeClock {
  let wall = start;
  let elapsed = 0;
  const deferred: (() => void)[] = [];
  const timers = new Set<Timer>();

  const moveTo = (at: number): void => {
    if (at <= elapsed) return;
    wall += at - elapsed;
    elapsed = at;
  };

  // The set keeps the order of setting, which decides between timers due at the same moment.
  const firstDue = (limit: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers)
      if (timer.at <= limit && (first === undefined || timer.at < first.at)) first = timer;
    return first;
  };

  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < quietTurns; quiet++) {
      // A whole turn before each callback drains every microtask, as between two real immediates.
      await turn();
      const callback = deferred.shift();
      if (callback === undefined) continue;
      quiet = -1;
      callback();
    }
  };

  return {
    now: () => wall,
    monotonic: () => elapsed,
    setTimer: (callback, ms) => {
      const timer = { at: elapsed + (ms > 0 ? ms : 0), callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    defer: (callback) => void deferred.push(callback),
    advance: async (ms) => {
      const target = elapsed + ms;
      await settle();
      for (let due = firstDue(target); due !== undefined; due = firstDue(target)) {
        timers.delete(due);
        moveTo(due.at);
        due.callback();
        await settle();
      }
      moveTo(target);
    },
    jump: (ms) => void (wall += ms),
    settle,
    pending: () => timers.size,
  };
}
