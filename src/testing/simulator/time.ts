import type { Clock } from "../../core/clock.ts";

/** The one clock of a simulation: all time and all order come from it. */
export interface SimulatedTime extends Clock {
  /** Lets time pass: fires what falls due, in order, and runs whatever follows from it. */
  advance(ms: number): Promise<void>;
  /** Moves wall time only. */
  jump(ms: number): void;
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

// Taken at load, so that a test framework's fake timers cannot stop it.
const immediate = setImmediate;
/** In a simulation everything is a promise, a timer or a deferred call, so one turn of the loop drains all promises. */
const drained = (): Promise<void> => new Promise((resolve) => void immediate(resolve));

/** Like the fake clock of the test kit, but for code that is known to do no I/O: much faster. */
export function createSimulatedTime(start = Date.UTC(2026, 0, 1)): SimulatedTime {
  let wall = start;
  let elapsed = 0;
  let deferred: (() => void)[] = [];
  const timers = new Set<Timer>();
  const firstDue = (limit: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.at <= limit && (first === undefined || timer.at < first.at)) first = timer;
    }
    return first;
  };
  const settle = async (): Promise<void> => {
    await drained();
    while (deferred.length > 0) {
      const ready = deferred;
      deferred = [];
      for (const callback of ready) {
        callback();
        await drained();
      }
    }
  };
  const moveTo = (at: number): void => {
    wall += Math.max(0, at - elapsed);
    elapsed = Math.max(elapsed, at);
  };
  return {
    now: () => wall,
    monotonic: () => elapsed,
    setTimer(callback, ms) {
      const timer = { at: elapsed + Math.max(0, ms), callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    defer: (callback) => void deferred.push(callback),
    async advance(ms) {
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
  };
}
