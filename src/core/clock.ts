/** The engine's time: real, or moved by a test. */
export interface Clock {
  /** Wall time in epoch milliseconds. May jump in either direction. */
  now(): number;
  /** Milliseconds since some fixed moment. Never decreases. */
  monotonic(): number;
  /**
   * Calls back once after `ms` milliseconds, however long; returns a function that cancels it. A `background` timer
   * doesn't keep the process alive.
   */
  setTimer(callback: () => void, ms: number, options?: TimerOptions): () => void;
  /** Calls back soon, after pending microtasks and I/O callbacks. */
  defer(callback: () => void): void;
  /** Milliseconds of the processor that this process has used so far. Left out where nobody can tell. */
  processor?(): number;
}

export interface TimerOptions {
  readonly background?: boolean;
  /** For the upkeep of this process only: a place without one may leave it out. */
  readonly upkeep?: boolean;
}

/** The platform's longest delay; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

function setTimer(callback: () => void, ms: number, options?: TimerOptions): () => void {
  let left = ms > 0 ? ms : 0;
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const part = Math.min(left, LONGEST_MS);
    left -= part;
    timer = setTimeout(left > 0 ? arm : callback, part);
    if (options?.background === true) timer.unref();
  };
  arm();
  return () => clearTimeout(timer);
}

/**
 * The machine's own clocks.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer,
  defer: (callback) => void setImmediate(callback),
  processor: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};
