import type { Clock } from "../../core/clock.ts";

/** So many requests at once, and so many per second after that. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** More callers than this aren't remembered one by one. */
const CALLERS = 10_000;

interface Bucket {
  left: number;
  at: number;
}

/** Counts requests by caller, in the memory of this process. */
export class RateLimit {
  readonly #rate: Rate;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate, clock: Pick<Clock, "monotonic">) {
    this.#rate = rate;
    this.#clock = clock;
  }

  /** Takes `cost` from the caller's allowance. Returns 0, or the seconds to wait if there is nothing left. */
  take(caller: string, cost = 1): number {
    const { perSecond, burst } = this.#rate;
    const now = this.#clock.monotonic();
    const bucket = this.#buckets.get(caller) ?? { left: burst, at: now };
    bucket.left = Math.min(burst, bucket.left + ((now - bucket.at) / 1_000) * perSecond);
    bucket.at = now;
    this.#keep(caller, bucket, now);
    if (bucket.left < 1) return Math.max(1, Math.ceil((1 - bucket.left) / perSecond));
    // A costly request may lead into debt, but never so deep that it takes long to get out of it.
    bucket.left = Math.max(bucket.left - cost, -burst);
    return 0;
  }

  #keep(caller: string, bucket: Bucket, now: number): void {
    if (this.#buckets.size >= CALLERS && !this.#buckets.has(caller)) this.#forget(now);
    this.#buckets.set(caller, bucket);
  }

  /** Forgets callers whose allowance is whole again, and if all are busy, those that were here longest. */
  #forget(now: number): void {
    const { perSecond, burst } = this.#rate;
    for (const [caller, { left, at }] of this.#buckets)
      if (left + ((now - at) / 1_000) * perSecond >= burst) this.#buckets.delete(caller);
    for (const caller of this.#buckets.keys()) {
      if (this.#buckets.size < CALLERS) return;
      this.#buckets.delete(caller);
    }
  }
}
