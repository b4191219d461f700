import type { Clock } from "../../core/clock.ts";

/** How often a stream is looked at for what other processes have written. */
const LOOK_MS = 150;

/** Tells those who wait for a stream that it was written to: at once in this process, soon for others. */
export class News {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tell(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake();
  }

  /** The next time to look at it. */
  next(id: string, signal: AbortSignal): { readonly done: Promise<void>; cancel(): void } {
    let wake = (): void => undefined;
    const done = new Promise<void>((resolve) => (wake = resolve));
    const own = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, own.add(wake));
    const cancelTimer = this.#clock.setTimer(wake, LOOK_MS, { background: true });
    signal.addEventListener("abort", wake, { once: true });
    const cancel = (): void => {
      cancelTimer();
      own.delete(wake);
      if (own.size === 0) this.#waiting.delete(id);
      signal.removeEventListener("abort", wake);
    };
    return { done: done.finally(cancel), cancel };
  }
}
