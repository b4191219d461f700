import { nodeModule } from "../platform.ts";

/** The share of the heap that is in use, from 0 to 1. */
export function heapPressure(): number {
  const { used_heap_size: used, heap_size_limit: limit } = nodeModule("node:v8").getHeapStatistics();
  return used / limit;
}

/**
 * The share must fall this far below the limit before it counts as normal again, because it fluctuates near the limit.
 */
const RELIEF = 0.9;

/** Tracks whether this process is short of memory. */
export class Pressure {
  readonly #limit: number | null;
  readonly #measure: () => number;
  #isHigh = false;

  constructor(limit: number | null, measure: () => number) {
    this.#limit = limit;
    this.#measure = measure;
  }

  get isHigh(): boolean {
    return this.#isHigh;
  }

  /** Measures. Returns the share when the state has changed. */
  look(): number | undefined {
    if (this.#limit === null) return undefined;
    const share = this.#measure();
    const isHigh = share >= (this.#isHigh ? this.#limit * RELIEF : this.#limit);
    if (isHigh === this.#isHigh) return undefined;
    this.#isHigh = isHigh;
    return share;
  }
}
