/** Requests that may be on their way at once. */
const MOST_AT_ONCE = 12;

/** A request that takes longer than this is waiting for something else than its turn, and holds nobody up. */
const SLOW_MS = 1_000;

/**
 * Lets requests go in the order in which they came, a few at a time. A server that gets hundreds at once answers all of
 * them late: workflow tasks then miss their worker's cache, are replayed from the beginning, and time out, so that the
 * same work is asked for again and again.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  readonly #underWay = new Set<Promise<unknown>>();
  #taken = 0;

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken >= MOST_AT_ONCE) await new Promise<void>((begin) => this.#waiting.push(begin));
    else this.#taken++;
    let isOver = false;
    const leave = (): void => {
      if (isOver) return;
      isOver = true;
      const next = this.#waiting.shift();
      if (next) next();
      else this.#taken--;
    };
    const timer = setTimeout(leave, SLOW_MS);
    const working = (async () => work())();
    this.#underWay.add(working);
    try {
      return await working;
    } finally {
      this.#underWay.delete(working);
      clearTimeout(timer);
      leave();
    }
  }

  /** Resolves when what is under way now has been answered or refused. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }
}
