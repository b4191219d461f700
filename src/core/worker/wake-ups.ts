import type { Clock } from "../clock.ts";
import type { StoreTime } from "../store/time.ts";

/** The most moments that are remembered. Later ones are left to the regular sweeps. */
const MOST = 1_000;

/**
 * The moments at which runs that were parked here are due again, so that a sweep comes then and not some time later. Only
 * a hint: a run whose worker is gone is found by the regular sweeps of others.
 */
export class WakeUps {
  readonly #clock: Clock;
  readonly #time: Pick<StoreTime, "now">;
  readonly #wake: () => void;
  readonly #moments = new Set<number>();
  #alarm: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(clock: Clock, time: Pick<StoreTime, "now">, wake: () => void) {
    this.#clock = clock;
    this.#time = time;
    this.#wake = wake;
  }

  /** Wakes at this time of the store's clock. */
  add(at: number | null): void {
    if (at === null || this.#moments.size >= MOST) return;
    this.#moments.add(at);
    this.#arm();
  }

  stop(): void {
    this.#alarm?.cancel();
    this.#moments.clear();
  }

  #arm(): void {
    const at = Math.min(...this.#moments);
    if (at === Infinity || (this.#alarm && this.#alarm.at <= at)) return;
    this.#alarm?.cancel();
    const ring = (): void => {
      this.#alarm = undefined;
      const now = this.#time.now();
      for (const one of this.#moments) if (one <= now) this.#moments.delete(one);
      this.#arm();
      this.#wake();
    };
    const ms = Math.max(1, at - this.#time.now());
    this.#alarm = { at, cancel: this.#clock.setTimer(ring, ms, { background: true }) };
  }
}
