import type { Frame } from "./scope.ts";

/**
 * Counts calls of user code in progress. A call that only waits for something of the run's own (a gate, a timer inside
 * a branch) doesn't count: the run can be released, and the call is made again when it continues.
 */
export class Calls {
  #active = 0;
  /** Calls that begin as soon as their intents are durable. */
  #beginning = 0;
  readonly #turn: () => Promise<void>;
  #waiters: (() => void)[] = [];

  /** `turn` lets all other work in the process have its turn. */
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

  /** Called when a wait begins inside `frame` and the calls around it. */
  block(frame: Frame | undefined): void {
    for (let one = frame; one; one = one.outer) if (one.waits++ === 0 && !one.ended) this.#less();
  }

  unblock(frame: Frame | undefined): void {
    for (let one = frame; one; one = one.outer) if (--one.waits === 0 && !one.ended) this.#active++;
  }

  /** Counts a call that is about to begin: its intent is being written, and would be left without an outcome. */
  begin(): void {
    this.#beginning++;
  }

  /** Called when its intent is written, or never will be: the call begins within this turn. */
  begun(): void {
    this.#beginning--;
    this.#wake();
  }

  /** Resolves when none is in progress or about to begin. */
  async none(): Promise<void> {
    while (this.#active + this.#beginning > 0) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
      // Calls whose intent has become durable begin within this turn.
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
