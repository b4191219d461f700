import type { KeptHead } from "../../audit/log.ts";
import type { Clock } from "../../clock.ts";
import { HoldfastError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";

export interface AuditLoopDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly everyMs: number;
  readonly events: number;
  /** Signs what is new; with `isDue` false only if no other process has just done it. `null`: there was nothing to do. */
  readonly sign: (isDue: boolean) => Promise<KeptHead | null>;
  /** Sends a head to the anchors. */
  readonly send: (head: KeptHead) => Promise<void>;
}

/**
 * A head is signed only after the process has done this many times as much as for the one before, however many events
 * there are, so that heads and what leads to them stay below a hundredth. That is counted in time of the processor: a
 * process that mostly waits for its disk does little in a second.
 */
const REST = 200;

const SOONEST_MS = 10;

/** When the last head was signed, what the process had done by then, and what it owes before the next. */
interface Rest {
  readonly since: number;
  readonly used: number;
  readonly owed: number;
}

/**
 * Signs heads in the background: after so many events of this process, and after so much time. It counts events in
 * memory, so a step costs nothing more than that, and a busy process signs less often rather than becoming slower.
 */
export class AuditLoop {
  readonly #deps: AuditLoopDeps;
  #count = 0;
  #cancel: (() => void) | null = null;
  #isStopped = false;
  #signing: Promise<void> = Promise.resolve();
  #isWaiting = false;
  #rest: Rest = { since: 0, used: 0, owed: 0 };
  #cancelWait: () => void = () => undefined;
  /** Why the last attempt failed. */
  problem: { readonly code: string; readonly message: string } | null = null;

  constructor(deps: AuditLoopDeps) {
    this.#deps = deps;
  }

  /** Starts the loop. Doesn't keep the process alive. */
  start(): void {
    if (this.#cancel === null && !this.#isStopped) this.#later();
  }

  get isStarted(): boolean {
    return this.#cancel !== null;
  }

  /** Called with the number of events that this process has written. */
  heard(events: number): void {
    this.#count += events;
    if (this.#count < this.#deps.events || !this.isStarted || this.#isStopped || this.#isWaiting) return;
    this.#isWaiting = true;
    if (this.#isRested()) this.#deps.clock.defer(() => this.#passNow());
    else this.#wait();
  }

  /** Returns how much this process has done so far; by the clock where nobody can tell. */
  #used(): number {
    const { clock } = this.#deps;
    return clock.processor?.() ?? clock.monotonic();
  }

  #isRested(): boolean {
    const { since, used, owed } = this.#rest;
    return this.#used() - used >= owed || this.#deps.clock.monotonic() - since >= this.#deps.everyMs;
  }

  /** Looks again when, at the rate so far, half of what is owed will be done. */
  #wait(): void {
    const { clock, everyMs } = this.#deps;
    const { since, used, owed } = this.#rest;
    const [passed, done] = [clock.monotonic() - since, this.#used() - used];
    const rate = passed > 0 && done > 0 ? Math.min(1, done / passed) : 1;
    const ms = Math.min(Math.max((owed - done) / rate / 2, SOONEST_MS), Math.max(everyMs - passed, 0));
    const look = (): void => (this.#isRested() ? this.#passNow() : this.#wait());
    this.#cancelWait = clock.setTimer(look, ms, { background: true });
  }

  #passNow(): void {
    const passed = (): void => {
      this.#isWaiting = false;
      this.heard(0);
    };
    this.#pass(true);
    this.#signing.then(passed, passed);
  }

  #later(): void {
    if (this.#isStopped) return;
    const { clock, everyMs } = this.#deps;
    this.#cancel = clock.setTimer(
      () => {
        this.#pass(false);
        this.#later();
      },
      everyMs,
      { background: true },
    );
  }

  #pass(isDue: boolean): void {
    if (this.#isStopped) return;
    this.#count = 0;
    this.#signing = this.#signing.then(() => this.#sign(isDue));
  }

  async #sign(isDue: boolean): Promise<void> {
    const { clock, sign, send } = this.#deps;
    try {
      const began = this.#used();
      const head = await sign(isDue).finally(() => {
        const used = this.#used();
        // Other work that was done meanwhile counts too, so heads take less than this, never more.
        this.#rest = { since: clock.monotonic(), used, owed: REST * (used - began) };
      });
      if (head) await send(head);
      this.problem = null;
    } catch (error) {
      const { code, message } = HoldfastError.is(error) ? error : { code: "unknown", message: String(error) };
      this.problem = { code, message };
      this.#deps.logger.error("the head of the audit log was not signed", { code, error: message });
    }
  }

  /** Stops it; with `isLast`, what is new is signed before. */
  async stop(isLast: boolean): Promise<void> {
    const wasStarted = this.#cancel !== null;
    this.#isStopped = true;
    this.#cancel?.();
    this.#cancelWait();
    await this.#signing;
    if (wasStarted && isLast) await this.#sign(true);
  }
}
