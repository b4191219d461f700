import type { Clock } from "../clock.ts";
import { isGuarded } from "../journal/going-on.ts";
import type { StoreTime } from "../store/time.ts";
import type { Waiting } from "../types.ts";
import type { Frame } from "./scope.ts";

interface Wait {
  readonly waiting: Waiting;
  readonly frame: Frame | undefined;
  readonly resolve: () => void;
  cancelTimer: () => void;
}

interface WaitPorts {
  readonly clock: Pick<Clock, "setTimer">;
  readonly time: Pick<StoreTime, "now">;
  /** While this is false, no wait ends: the run is being released, or was. */
  mayWake(): boolean;
  /** Called when a wait ends, before the code that waits goes on. */
  woken(frame: Frame | undefined): void;
}

/** The waits of one run in this process, by step key. Each ends when somebody decides its step or its time has come. */
export class OpenWaits {
  readonly #ports: WaitPorts;
  readonly #waits = new Map<string, Wait>();

  constructor(ports: WaitPorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#waits.size;
  }

  all(): Waiting[] {
    return [...this.#waits.values()].map(({ waiting }) => waiting);
  }

  add(key: string, waiting: Waiting, frame: Frame | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wait: Wait = { waiting, frame, resolve, cancelTimer: () => undefined };
      this.#waits.set(key, wait);
      this.#arm(key, wait);
    });
  }

  #arm(key: string, wait: Wait): void {
    const { until } = wait.waiting;
    if (until === undefined) return;
    wait.cancelTimer();
    const delay = Math.max(0, until - this.#ports.time.now());
    wait.cancelTimer = this.#ports.clock.setTimer(() => this.wake(key), delay);
  }

  /** Sets all timers anew: the store's clock may have been corrected since. */
  rearm(): void {
    for (const [key, wait] of this.#waits) this.#arm(key, wait);
  }

  wake(key: string): void {
    const wait = this.#waits.get(key);
    if (!wait || !this.#ports.mayWake()) return;
    this.#waits.delete(key);
    wait.cancelTimer();
    this.#ports.woken(wait.frame);
    wait.resolve();
  }

  /** Ends the waits whose time has come: timers that fire while no wait may end have no effect. */
  wakeDue(): void {
    const now = this.#ports.time.now();
    for (const [key, { waiting }] of this.#waits) if ((waiting.until ?? Infinity) <= now) this.wake(key);
  }

  /** One signal ends one wait. */
  wakeForSignal(name: string): void {
    for (const [key, { waiting }] of this.#waits) {
      if (waiting.names?.includes(name)) return this.wake(key);
    }
  }

  /** Guards that hold a step back look again. */
  wakeGuards(): void {
    for (const [key, { waiting }] of this.#waits) if (isGuarded(waiting.kind)) this.wake(key);
  }

  /** Forgets all waits: they never end. */
  drop(): void {
    for (const wait of this.#waits.values()) wait.cancelTimer();
    this.#waits.clear();
  }
}
