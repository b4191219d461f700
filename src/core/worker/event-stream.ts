import { checkWhole } from "../check-options.ts";
import type { EngineEvent } from "./event-types.ts";

/** Limits of an event iterator. */
export interface EventsOptions {
  /**
   * The number of events that may wait for the reader. Beyond that the oldest are dropped, and the next event read is
   * `events_missed`, with their number. Default 10,000.
   */
  readonly most?: number;
}

const MOST = 10_000;

type Read = IteratorResult<EngineEvent, undefined>;

/** Events from its creation on, for one reader at its own pace. */
export class EventStream implements AsyncIterableIterator<EngineEvent, undefined> {
  readonly #most: number;
  readonly #stop: () => void;
  #queue: EngineEvent[] = [];
  #missed = 0;
  #readers: ((read: Read) => void)[] = [];
  #ended = false;

  /** `stop` is called once, when nothing more will be pushed. */
  constructor({ most = MOST }: EventsOptions, stop: () => void) {
    this.#most = checkWhole("most", most);
    this.#stop = stop;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  push(event: EngineEvent): void {
    if (this.#ended) return;
    const reader = this.#readers.shift();
    if (reader) return reader({ done: false, value: event });
    this.#queue.push(event);
    // Drops many at a time: removing one from the front of a long list costs as much.
    if (this.#queue.length >= 2 * this.#most) this.#drop();
  }

  #drop(): void {
    const over = this.#queue.length - this.#most;
    if (over > 0) this.#missed += this.#queue.splice(0, over).length;
  }

  next(): Promise<Read> {
    this.#drop();
    const [first] = this.#queue;
    if (this.#missed > 0 && first) {
      const value: EngineEvent = { type: "events_missed", at: first.at, count: this.#missed };
      this.#missed = 0;
      return Promise.resolve({ done: false, value });
    }
    if (first) return Promise.resolve({ done: false, value: this.#queue.shift() ?? first });
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** Ends the stream; waiting events can still be read. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stop();
    for (const reader of this.#readers.splice(0)) reader({ done: true, value: undefined });
  }

  /** Called when the reader stops. */
  return(): Promise<Read> {
    this.end();
    this.#queue = [];
    return Promise.resolve({ done: true, value: undefined });
  }
}
