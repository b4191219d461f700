/** How often figures fell into each bucket: bucket by number, without empty ones. */
export type Buckets = Readonly<Record<string, number>>;

/** The upper bound of the first bucket; each further one reaches a tenth higher. */
const FIRST = 0.1;
const STEP = Math.log(1.1);
/** The last bucket begins at about 17 minutes. */
const LAST = 170;

const bucketOf = (figure: number): number =>
  figure <= FIRST ? 0 : Math.min(LAST, Math.ceil(Math.log(figure / FIRST) / STEP - 1e-9));
const upper = (bucket: number): number => FIRST * Math.exp(STEP * bucket);
const lower = (bucket: number): number => (bucket === 0 ? 0 : upper(bucket - 1));

/** Counts figures so that those of many processes can be added up. Percentiles are exact to a tenth. */
export class Histogram {
  readonly #counts = new Map<number, number>();
  #count = 0;

  static of(buckets: Buckets): Histogram {
    const made = new Histogram();
    made.merge(buckets);
    return made;
  }

  get count(): number {
    return this.#count;
  }

  get buckets(): Buckets {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => a - b));
  }

  add(figure: number): void {
    this.#put(bucketOf(figure), 1);
  }

  merge(buckets: Buckets): void {
    for (const [bucket, count] of Object.entries(buckets)) this.#put(Number(bucket), count);
  }

  /** Returns what was counted, and begins anew. */
  take(): Buckets {
    const { buckets } = this;
    this.#counts.clear();
    this.#count = 0;
    return buckets;
  }

  /** The figure that this share of all doesn't exceed; `null` when there is none. */
  percentile(share: number): number | null {
    if (this.#count === 0) return null;
    const rank = share * this.#count;
    let below = 0;
    for (const [bucket, count] of [...this.#counts].sort(([a], [b]) => a - b)) {
      if (below + count >= rank)
        return lower(bucket) + (upper(bucket) - lower(bucket)) * ((rank - below) / count);
      below += count;
    }
    return upper(LAST);
  }

  /** The share of figures above a limit. */
  shareAbove(limit: number): number {
    if (this.#count === 0) return 0;
    let above = 0;
    for (const [bucket, count] of this.#counts) {
      const [from, to] = [lower(bucket), upper(bucket)];
      above += count * (limit <= from ? 1 : limit >= to ? 0 : (to - limit) / (to - from));
    }
    return above / this.#count;
  }

  #put(bucket: number, count: number): void {
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + count);
    this.#count += count;
  }
}
