import type { Clock } from "../../clock.ts";
import { HoldfastError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";

export interface AuditLoopDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly everyMs: number;
  readonly events: number;
  /** Signs what is new and sends it to the anchors; with `isDue` false only if no other process has just done it. */
  readonly sign: (isDue: boolean) => Promise<void>;
}

/**
 * Signs heads in the background: after so many events of this process, and after so much time. It counts events in
 * memory, so a step costs nothing more than that.
 */
export class AuditLoop {
  readonly #deps: AuditLoopDeps;
  #count = 0;
  #cancel: (() => void) | null = null;
  #isStopped = false;
  #signing: Promise<void> = Promise.resolve();
  #isWaiting = false;
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
    if (this.#count < this.#deps.events || this.#cancel === null || this.#isWaiting) return;
    this.#isWaiting = true;
    this.#deps.clock.defer(() => {
      this.#isWaiting = false;
      this.#pass(true);
    });
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
    try {
      await this.#deps.sign(isDue);
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
    await this.#signing;
    if (wasStarted && isLast) await this.#sign(true);
  }
}
