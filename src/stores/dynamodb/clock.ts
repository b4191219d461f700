/**
 * How fast this process's clock may drift against the service's, in milliseconds per millisecond: some ten times what
 * quartz does.
 */
const DRIFT = 0.000_2;

/** Without an answer for so long the estimate is taken anew. */
export const FRESH_MS = 30_000;

/** The clock of the process; one that only goes forward, whatever is done to the time of day. */
const steady = (): number => performance.timeOrigin + performance.now();

/**
 * An estimate of the service's clock, so that all workers go by one clock and not by their own machines'. DynamoDB cannot
 * compare with its own time; but each of its answers names the second in which it was given. One answer bounds the
 * difference of the clocks to a second and the time the call took; all of them together bound it to much less, because
 * every one of them must be right. Without such answers the machine's clock is all there is.
 *
 * Nothing that must not happen depends on it. A claim that is taken too early, or held too long, changes who works on a
 * run and when; that only one of them can write is decided by token, epoch and position, which are compared by the
 * service itself.
 */
export class ServiceClock {
  readonly #local: () => number;
  /** Between these two lies what must be added to the local clock. */
  #low = Number.NEGATIVE_INFINITY;
  #high = Number.POSITIVE_INFINITY;
  #takenAt = Number.NEGATIVE_INFINITY;

  constructor(local: () => number = steady) {
    this.#local = local;
  }

  /** The time to note before a call whose answer is reported. */
  local(): number {
    return this.#local();
  }

  /** An answer to a call sent at `sent`, local time, came in just now; `date` is its header. */
  answered(sent: number, date: string | undefined): void {
    const second = Date.parse(date ?? "");
    if (Number.isNaN(second)) return;
    const received = this.#local();
    const [low, high] = [second - received, second + 1000 - sent];
    const slack = (received - this.#takenAt) * DRIFT;
    this.#low = Math.max(low, this.#low - slack);
    this.#high = Math.min(high, this.#high + slack);
    // They contradict each other: one of the clocks was set, or this machine slept. The latest is right.
    if (this.#low > this.#high) [this.#low, this.#high] = [low, high];
    this.#takenAt = received;
  }

  /** Whether an answer came lately. */
  get isFresh(): boolean {
    return this.#local() - this.#takenAt < FRESH_MS;
  }

  now(): number {
    if (this.#takenAt === Number.NEGATIVE_INFINITY) return Date.now();
    return Math.round(this.#local() + (this.#low + this.#high) / 2);
  }
}
