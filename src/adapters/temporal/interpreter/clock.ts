import { CancellationScope, sleep } from "@temporalio/workflow";
import type { Clock } from "../../../core/clock.ts";

/**
 * Time inside the sandbox: the same on every replay, and every timer is an event in the history. Timers for the upkeep
 * of a process never ring here. There is no process: its claim can't run out, and whatever happens to the run comes
 * through this execution.
 */
export const sandboxClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Date.now(),
  setTimer(callback, ms, options) {
    if (options?.background || options?.upkeep) return () => undefined;
    if (ms <= 0) return soon(callback);
    const scope = new CancellationScope();
    ring(callback, () => scope.run(() => sleep(Math.ceil(ms))));
    return () => scope.cancel();
  },
  defer: (callback) => void soon(callback),
};

/** How many turns of the queue count as a moment: whatever is under way without a wait has ended by then. */
const TURNS = 20;

function soon(callback: () => void): () => void {
  let isCancelled = false;
  const wait = async (): Promise<void> => {
    for (let turn = 0; turn < TURNS; turn++) await Promise.resolve();
  };
  ring(() => isCancelled || callback(), wait);
  return () => {
    isCancelled = true;
  };
}

/** Calls back after a wait, unless the wait is cancelled. */
function ring(act: () => unknown, wait: () => Promise<unknown>): void {
  wait().then(act, () => undefined);
}
