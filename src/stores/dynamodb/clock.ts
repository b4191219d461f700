/**
 * The assumed drift of this process's clock against the service's, in milliseconds per millisecond: about ten times
 * that of quartz.
 */
const DRIFT = 0.000_2;

/** The estimate is refreshed when no response has arrived for this long. */
export const FRESH_MS = 30_000;

/** A monotonic process clock that ignores changes to the time of day. */
const steady = (): number => performance.timeOrigin + performance.now();

/**
 * Estimates the service's clock, so that all workers use one clock instead of their own machines'. DynamoDB can't
 * compare with its own time, but each response carries the second in which it was sent. One response bounds the
 * difference between the clocks to a second plus the duration of the call; together they bound it far more tightly,
 * because every response must be right. Without responses the machine's clock is used.
 *
 * Safety doesn't depend on the estimate. A claim that is taken too early or held too long only changes who works on a
 * run and when. Token, epoch and position decide who may write, and the service compares those itself.
 */
export class ServiceClock {
  readonly #local: () => number;
  /** The offset from the local clock lies between these two bounds. */
  #low = Number.NEGATIVE_INFINITY;
  #high = Number.POSITIVE_INFINITY;
  #takenAt = Number.NEGATIVE_INFINITY;

  constructor(local: () => number = steady) {
    this.#local = local;
  }

  /** The local time to record before sending a call. */
  local(): number {
    return this.#local();
  }

  /** Records a response to a call sent at local time `sent`. `date` is the response header. */
  answered(sent: number, date: string | undefined): void {
    const second = Date.parse(date ?? "");
    if (Number.isNaN(second)) return;
    const received = this.#local();
    const [low, high] = [second - received, second + 1000 - sent];
    const slack = (received - this.#takenAt) * DRIFT;
    this.#low = Math.max(low, this.#low - slack);
    this.#high = Math.min(high, this.#high + slack);
    // The bounds contradict each other: a clock was changed, or this machine slept. Trust the latest response.
    if (this.#low > this.#high) [this.#low, this.#high] = [low, high];
    this.#takenAt = received;
  }

  /** True when a response arrived recently. */
  get isFresh(): boolean {
    return this.#local() - this.#takenAt < FRESH_MS;
  }

  now(): number {
    if (this.#takenAt === Number.NEGATIVE_INFINITY) return Date.now();
    return Math.round(this.#local() + (this.#low + this.#high) / 2);
  }
}
