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
 * A head is signed only after this many times what the one before has taken, however many events there are. A process that
 * mostly waits for its disk uses the processor less between two heads than for one, hence not only a hundred times.
 */
const REST = 200;

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
  /** When the next head may be signed, by the monotonic clock. */
  #earliest = 0;
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
    const { clock } = this.#deps;
    const rest = this.#earliest - clock.monotonic();
    if (rest > 0) this.#cancelWait = clock.setTimer(() => this.#passNow(), rest, { background: true });
    else clock.defer(() => this.#passNow());
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
    const { clock, everyMs, sign, send } = this.#deps;
    try {
      const began = clock.monotonic();
      const head = await sign(isDue).finally(() => {
        const now = clock.monotonic();
        this.#earliest = now + Math.min(REST * (now - began), everyMs);
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
