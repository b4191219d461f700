/** How long writes took, in milliseconds, over the newest of them. */
export interface WriteTimes {
  /** All writes of this process so far. */
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly most: number;
}

/** The number of writes that the figures are about. */
const KEPT = 1_000;

/** Remembers how long the newest writes took. */
export class WriteClock {
  readonly #newest: number[] = [];
  #count = 0;

  add(ms: number): void {
    this.#newest[this.#count++ % KEPT] = ms;
  }

  /** `null` before the first write. */
  get times(): WriteTimes | null {
    return this.#count === 0 ? null : { count: this.#count, ...spreadOf(this.#newest) };
  }
}

/** The median, the 95th percentile and the largest of some figures. */
export function spreadOf(figures: readonly number[]): {
  readonly p50: number;
  readonly p95: number;
  readonly most: number;
} {
  const all = [...figures].sort((a, b) => a - b);
  const at = (share: number): number => all[Math.ceil(all.length * share) - 1] ?? 0;
  return { p50: at(0.5), p95: at(0.95), most: at(1) };
}
