import type { Frame } from "./scope.ts";

/**
 * Counts the calls of user code that are under way. A call that has nothing left to do but wait for something of the run's own (a
 * gate, a timer inside a branch) does not count: the run can be let go, and the call is made again when it goes on.
 */
export class Calls {
  #active = 0;
  /** Calls that begin as soon as their intents are durable. */
  #beginning = 0;
  readonly #turn: () => Promise<void>;
  #waiters: (() => void)[] = [];

  /** `turn` lets everything else that is under way in the process have its turn. */
  constructor(turn: () => Promise<void>) {
    this.#turn = turn;
  }

  get active(): number {
    return this.#active;
  }

  start(): void {
    this.#active++;
  }

  end(frame: Frame): void {
    frame.ended = true;
    if (frame.waits === 0) this.#less();
  }

  /** A wait begins inside `frame` and the calls around it. */
  block(frame: Frame | undefined): void {
    for (let one = frame; one; one = one.outer) if (one.waits++ === 0 && !one.ended) this.#less();
  }

  unblock(frame: Frame | undefined): void {
    for (let one = frame; one; one = one.outer) if (--one.waits === 0 && !one.ended) this.#active++;
  }

  /** Counts what is about to begin: its intent is being written, and it would be left without an outcome. */
  async begin<T>(intent: Promise<T>): Promise<T> {
    this.#beginning++;
    try {
      return await intent;
    } finally {
      this.#beginning--;
      this.#wake();
    }
  }

  /** Answers when none is under way or about to begin. */
  async none(): Promise<void> {
    while (this.#active + this.#beginning > 0) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
      // What has become durable begins within this turn.
      await this.#turn();
    }
  }

  #less(): void {
    this.#active--;
    this.#wake();
  }

  #wake(): void {
    if (this.#active + this.#beginning > 0) return;
    for (const wake of this.#waiters.splice(0)) wake();
  }
}
