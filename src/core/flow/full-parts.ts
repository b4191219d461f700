import type { Clock } from "../clock.ts";
import type { QueuePart } from "../store/contract.ts";
import type { RunRow } from "../types.ts";

/** How soon a part that was full is asked again, unless a run of it ends here first: less often while it stays full. */
const ASK_MS = { first: 50, most: 1_000 } as const;

/** The most parts that are remembered. */
const MOST_NOTED = 1_000;

/** A part of a queue that has no place, until it is asked again. */
interface Note {
  readonly part: QueuePart;
  /** True when its rate is used up, which also concerns runs that have a place. */
  readonly isRate: boolean;
  readonly until: number;
  readonly ms: number;
}

/** The parts of queues that are known here to have no place. Calls back when the first of them may have one again. */
export class FullParts {
  readonly #clock: Clock;
  readonly #wake: () => void;
  readonly #notes = new Map<string, Note>();
  #alarm: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  get current(): readonly Note[] {
    const now = this.#clock.monotonic();
    return [...this.#notes.values()].filter(({ until }) => until > now);
  }

  /** Notes that a part is full; returns false for the caller that found no place. */
  note(part: QueuePart, given?: number): false {
    const before = this.#notes.get(nameOf(part))?.ms ?? ASK_MS.first / 2;
    return this.#put(nameOf(part), part, given ?? Math.min(2 * before, ASK_MS.most), false);
  }

  /** Notes that the rate is used up for so long. */
  noteRate(part: QueuePart, ms: number): false {
    return this.#put(`rate ${nameOf(part)}`, part, ms, true);
  }

  /** Forgets that the queue or the key of a run was full; returns whether it was. */
  forget({ queue, key }: RunRow): boolean {
    if (queue === null) return false;
    const names = [nameOf({ queue }), ...(key === null ? [] : [nameOf({ queue, key })])];
    return names.filter((name) => this.#notes.delete(name)).length > 0;
  }

  #put(name: string, part: QueuePart, ms: number, isRate: boolean): false {
    if (this.#notes.size >= MOST_NOTED) this.#notes.clear();
    this.#notes.set(name, { part, isRate, until: this.#clock.monotonic() + ms, ms });
    this.#wakeLater();
    return false;
  }

  #wakeLater(): void {
    const at = this.current.reduce((least, { until }) => Math.min(least, until), Infinity);
    if (at === Infinity || (this.#alarm && this.#alarm.at <= at)) return;
    this.#alarm?.cancel();
    const rung = (): void => {
      this.#alarm = undefined;
      this.#wakeLater();
      this.#wake();
    };
    const ms = Math.max(1, at - this.#clock.monotonic());
    this.#alarm = { at, cancel: this.#clock.setTimer(rung, ms, { background: true }) };
  }
}

const nameOf = ({ queue, key }: QueuePart): string =>
  JSON.stringify(key === undefined ? [queue] : [queue, key]);
