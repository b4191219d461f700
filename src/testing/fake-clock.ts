import { checkKeys, checkNumber, checkWhole } from "../core/check-options.ts";
import type { Clock } from "../core/clock.ts";
import { partsLoaded } from "../core/on-demand.ts";

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /** Moves time forward and fires every due timer in order, including timers set on the way. */
  advance(ms: number): Promise<void>;
  /** Moves only the wall time, in either direction, like a corrected system clock. */
  jump(ms: number): void;
  /** Runs deferred callbacks and promise chains until nothing is left to do. No time passes. */
  settle(): Promise<void>;
  /** Moves time forward in one leap: every due timer fires once, however often it would have repeated. */
  skip(ms: number): Promise<void>;
  /**
   * Advances time until the promise settles, in leaps that grow up to a day while nothing happens. So a due timer may
   * fire up to one leap late. Throws after ten simulated years.
   */
  until<T>(promise: Promise<T>): Promise<T>;
  /** The number of pending timers. */
  pending(): number;
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** Options of `createFakeClock`. */
export interface FakeClockOptions {
  /** The initial wall time. */
  readonly start?: number;
  /**
   * How many turns of the event loop must pass without anything new before the clock counts as settled. One turn drains
   * all promises of code that does no I/O; real I/O may need a few. Default 4.
   */
  readonly quietTurns?: number;
}

const DEFAULT_START = Date.UTC(2026, 0, 1);

const DAY_MS = 86_400_000;
const MOST_LEAPS = 3_750;

/** Small steps for half a second, then seconds, then doubling up to a day. */
const leapMs = (leap: number): number =>
  leap < 50 ? 10 : leap < 70 ? 1_000 : Math.min(1_000 * 2 ** (leap - 69), DAY_MS);

// Captured at load, so that a test framework's fake timers can't replace it.
const realImmediate = setImmediate;
const turn = (): Promise<void> => new Promise((resolve) => void realImmediate(resolve));

/**
 * Creates a clock for tests: no real time passes and nothing sleeps.
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
export function createFakeClock(options: FakeClockOptions = {}): FakeClock {
  checkKeys(options, ["start", "quietTurns"]);
  const start = checkNumber("start", options.start ?? DEFAULT_START, { least: 0 });
  const quietTurns = checkWhole("quietTurns", options.quietTurns ?? 4, 0);
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

// The set keeps insertion order, which decides between timers due at the same moment.
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
    // No time passes while a part of the code is being loaded.
    if (await partsLoaded()) quiet = -1;
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
