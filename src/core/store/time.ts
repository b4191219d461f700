import type { Clock } from "../clock.ts";
import type { Store } from "./contract.ts";

/**
 * The store's time as known to this process: read from the store periodically, and advanced by the monotonic clock in
 * between. The store decides about claims and wake times, so waits must use the same clock, whatever the wall clock
 * here says.
 */
export class StoreTime {
  readonly #store: Store;
  readonly #clock: Clock;
  #known: { readonly time: number; readonly at: number } | null = null;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async read(): Promise<number> {
    const time = await this.#store.now();
    this.#known = { time, at: this.#clock.monotonic() };
    return time;
  }

  now(): number {
    if (!this.#known) return this.#clock.now();
    return Math.round(this.#known.time + this.#clock.monotonic() - this.#known.at);
  }
}
