import type { Clock } from "../core/clock.ts";

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /** Moves time forward and fires every timer that falls due, in order, including those set on the way. */
  advance(ms: number): Promise<void>;
  /** Moves wall time only, either way, as a corrected system clock does. */
  jump(ms: number): void;
  /** Runs deferred callbacks and promise chains until nothing is left to do. No time passes. */
  settle(): Promise<void>;
  /** Moves time forward in one leap: every timer that is set and falls due fires once, however often it would have come again. */
  skip(ms: number): Promise<void>;
  /**
   * Lets time pass until the promise settles, in leaps that grow up to a day as long as nothing comes of it. What falls due is therefore
   * seen up to a leap late. Throws when ten simulated years have not helped.
   */
  until<T>(promise: Promise<T>): Promise<T>;
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

const DAY_MS = 86_400_000;
const MOST_LEAPS = 3_750;

/** Half a second in small steps, then seconds, then twice as long each time, up to a day. */
const leapMs = (leap: number): number =>
  leap < 50 ? 10 : leap < 70 ? 1_000 : Math.min(1_000 * 2 ** (leap - 69), DAY_MS);

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
 *
 * @example A sleep of 30 days, in milliseconds:
 * ```ts
 * import { createEngine, workflow } from "holdfast";
 * import { createMemoryStore } from "holdfast/stores/memory";
 * import { createFakeClock } from "holdfast/testing";
 *
 * const remind = workflow("remind", async (ctx) => {
 *   await ctx.sleep("a month", 30 * 86_400_000);
 *   return "time is up";
 * });
 *
 * const clock = createFakeClock();
 * const engine = createEngine({ store: createMemoryStore({ clock }), workflows: [remind], clock });
 * const { id } = await clock.until(engine.start(remind, undefined));
 * console.log(await clock.until(engine.result(id)));
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

  const settle = (): Promise<void> => settled(deferred, quietTurns);

  const skip = async (ms: number): Promise<void> => {
    await settle();
    const target = elapsed + ms;
    const due = [...timers].filter(({ at }) => at <= target).sort((a, b) => a.at - b.at);
    moveTo(target);
    for (const timer of due) if (timers.delete(timer)) timer.callback();
    await settle();
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
      for (let due = firstDue(timers, target); due !== undefined; due = firstDue(timers, target)) {
        timers.delete(due);
        moveTo(due.at);
        due.callback();
        await settle();
      }
      moveTo(target);
    },
    jump: (ms) => void (wall += ms),
    settle,
    skip,
    until: (promise) => leapUntil(promise, skip),
    pending: () => timers.size,
  };
}

// The set keeps the order of setting, which decides between timers due at the same moment.
function firstDue(timers: ReadonlySet<Timer>, limit: number): Timer | undefined {
  let first: Timer | undefined;
  for (const timer of timers)
    if (timer.at <= limit && (first === undefined || timer.at < first.at)) first = timer;
  return first;
}

async function settled(deferred: (() => void)[], quietTurns: number): Promise<void> {
  for (let quiet = 0; quiet < quietTurns; quiet++) {
    // A whole turn before each callback drains every microtask, as between two real immediates.
    await turn();
    const callback = deferred.shift();
    if (callback === undefined) continue;
    quiet = -1;
    callback();
  }
}

async function leapUntil<T>(promise: Promise<T>, skip: (ms: number) => Promise<void>): Promise<T> {
  let open = true;
  const done = promise.finally(() => {
    open = false;
  });
  done.catch(() => undefined);
  for (let leap = 0; open && leap < MOST_LEAPS; leap++) await skip(leapMs(leap));
  if (open) throw new Error("Ten years have passed on the fake clock, and the promise has not settled.");
  return done;
}
