import { type Buckets, Histogram } from "./histogram.ts";

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

/** Writes since somebody last asked. */
export interface NewWrites {
  readonly buckets: Buckets;
  /** Attempts that failed, and how often for each run; the first runs only. */
  readonly failures: number;
  readonly failedRuns: Readonly<Record<string, number>>;
}

/** The number of runs whose failed writes are counted one by one. */
const MOST_RUNS = 20;

/** Remembers how long the newest writes took. */
export class WriteClock {
  readonly #newest: number[] = [];
  #count = 0;
  readonly #since = new Histogram();
  #failures = 0;
  #failedRuns: Record<string, number> = {};

  add(ms: number): void {
    this.#newest[this.#count++ % KEPT] = ms;
    this.#since.add(ms);
  }

  /** Called when these runs could not be saved. */
  failed(runIds: readonly string[]): void {
    this.#failures++;
    for (const id of runIds)
      if (id in this.#failedRuns || Object.keys(this.#failedRuns).length < MOST_RUNS)
        this.#failedRuns[id] = (this.#failedRuns[id] ?? 0) + 1;
  }

  /** What was written since the last call. */
  take(): NewWrites {
    const taken = { buckets: this.#since.take(), failures: this.#failures, failedRuns: this.#failedRuns };
    this.#failures = 0;
    this.#failedRuns = {};
    return taken;
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
