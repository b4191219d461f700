import type { Clock } from "../clock.ts";
import type { HoldfastError } from "../errors.ts";
import { isOneRuns, isOut } from "./faults.ts";
import { FIRST_PAUSE_MS, LONGEST_PAUSE_MS } from "./pauses.ts";
import { WriteClock } from "./write-times.ts";

/** The state of a store. */
export interface StoreState {
  /** `back`: it has lost acknowledged writes, and is no longer used here (HF-3020). */
  readonly state: "ok" | "failing" | "back";
  /** Since when. */
  readonly since: number | null;
  readonly error: string | null;
  /** When this engine last saved anything. */
  readonly lastSavedAt: number | null;
}

interface Trouble {
  /** Wall time and monotonic time of the first failed attempt. */
  readonly at: number;
  readonly start: number;
  error: unknown;
  /** A write has failed, so only a write can prove that the store is back. */
  isWrite: boolean;
  attempts: number;
  pause: number;
  /** The monotonic time of the next attempt. */
  until: number;
}

interface HealthListener {
  failing(error: unknown): void;
  recovered(sinceMs: number): void;
}

/**
 * A process's knowledge of its store: a circuit breaker. One failed attempt is a hiccup. When the next one fails too,
 * the store counts as failing: it is asked only occasionally, with growing pauses, until a write succeeds.
 */
export class StoreHealth {
  readonly writes = new WriteClock();
  readonly #clock: Clock;
  readonly #listener: HealthListener;
  #trouble: Trouble | null = null;
  #lastSavedAt: number | null = null;
  readonly #waiters: (() => void)[] = [];
  readonly #backListeners: ((error: HoldfastError) => void)[] = [];
  #back: { readonly at: number; readonly error: HoldfastError } | null = null;
  #isAsking = false;
  #recoveredAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, listener: HealthListener) {
    this.#clock = clock;
    this.#listener = listener;
  }

  /** True from the first failed attempt on. */
  get isTroubled(): boolean {
    return this.#trouble !== null;
  }

  get failing(): boolean {
    return this.#trouble !== null && this.#trouble.attempts > 1;
  }

  /** How long attempts have failed. */
  get failingMs(): number {
    return this.#trouble ? Math.round(this.#clock.monotonic() - this.#trouble.start) : 0;
  }

  /** How long it has worked again; infinite if it never failed. */
  get soundMs(): number {
    return this.failing ? 0 : this.#clock.monotonic() - this.#recoveredAt;
  }

  /** How long to leave the store alone. */
  get restMs(): number {
    return this.#trouble ? Math.max(0, this.#trouble.until - this.#clock.monotonic()) : 0;
  }

  /** True when the store went back in time, which is final for this process. */
  get isBack(): boolean {
    return this.#back !== null;
  }

  wentBack(error: HoldfastError): void {
    this.#back = { at: this.#clock.now(), error };
    this.#listener.failing(error);
    for (const tell of this.#backListeners) tell(error);
  }

  onBack(listener: (error: HoldfastError) => void): void {
    this.#backListeners.push(listener);
  }

  get store(): StoreState {
    const lastSavedAt = this.#lastSavedAt;
    if (this.#back)
      return { state: "back", since: this.#back.at, error: this.#back.error.message, lastSavedAt };
    const trouble = this.failing ? this.#trouble : null;
    return {
      state: trouble ? "failing" : "ok",
      since: trouble?.at ?? null,
      error: trouble ? message(trouble.error) : null,
      lastSavedAt,
    };
  }

  saved(): void {
    this.#lastSavedAt = this.#clock.now();
    if (this.#trouble) this.#recover();
  }

  /** Called when the store has answered a question. */
  answered(): void {
    if (this.#trouble && !this.#trouble.isWrite) this.#recover();
  }

  /**
   * Asks for a caller that can wait: while the store fails, one question at a time and after its pause. `undefined`:
   * not asked.
   */
  async askGently<T>(question: () => Promise<T>): Promise<T | undefined> {
    const isGentle = this.failing;
    if (isGentle && (this.#isAsking || this.restMs > 0)) return undefined;
    this.#isAsking ||= isGentle;
    try {
      const answer = await question();
      this.answered();
      return answer;
    } catch (error) {
      if (!isOut(error)) this.failed(error, false);
      throw error;
    } finally {
      if (isGentle) this.#isAsking = false;
    }
  }

  /** Resolves when the store is no longer failing. */
  async whenBack(): Promise<void> {
    if (this.failing) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  #recover(): void {
    const [wasFailing, sinceMs] = [this.failing, this.failingMs];
    this.#trouble = null;
    if (wasFailing) {
      this.#recoveredAt = this.#clock.monotonic();
      this.#listener.recovered(sinceMs);
    }
    for (const go of this.#waiters.splice(0)) go();
  }

  failed(error: unknown, isWrite = true): void {
    if (isOneRuns(error)) return;
    const now = this.#clock.monotonic();
    const trouble = this.#trouble;
    if (!trouble) {
      const [pause, at] = [FIRST_PAUSE_MS, this.#clock.now()];
      this.#trouble = { at, start: now, error, isWrite, attempts: 1, pause, until: now + pause };
      return;
    }
    trouble.error = error;
    trouble.isWrite ||= isWrite;
    // An attempt that was already in progress says nothing new.
    if (now < trouble.until) return;
    trouble.attempts++;
    trouble.pause = Math.min(trouble.pause * 2, LONGEST_PAUSE_MS);
    trouble.until = now + trouble.pause;
    if (trouble.attempts === 2) this.#listener.failing(error);
  }
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));
