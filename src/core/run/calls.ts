import type { Frame } from "./scope.ts";

/**
 * Counts the calls of user code that are under way. A call that has nothing left to do but wait for something of the run's own (a
 * gate, a timer inside a branch) does not count: the run can be let go, and the call is made again when it goes on.
 */
export class Calls {
  #active = 0;
  #waiters: (() => void)[] = [];

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

  /** Answers when none is under way. */
  async none(): Promise<void> {
    while (this.#active > 0) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  #less(): void {
    if (--this.#active === 0) for (const wake of this.#waiters.splice(0)) wake();
  }
}
