import type { Clock } from "../clock.ts";
import type { EngineOptions } from "../engine-options.ts";
import { HoldfastError } from "../errors.ts";
import { readRun } from "../journal/door.ts";
import type { Ports } from "../ports.ts";
import type { Execution } from "../run/execution.ts";
import { CommitQueue, FIRST_PAUSE_MS, isOut, LONGEST_PAUSE_MS } from "../store/commit.ts";
import type { Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import type { Emitter } from "./emitter.ts";

/** How an engine stands: its store, what it could not save yet, and its worker. */
export interface Health {
  readonly store: {
    /** `back`: it does not hold what it had acknowledged, and is not used here any more (HF-3020). */
    readonly state: "ok" | "failing" | "back";
    /** Since when that is so. */
    readonly since: number | null;
    readonly error: string | null;
    /** When this engine last saved anything. */
    readonly lastSavedAt: number | null;
  };
  /** Runs in this process with something that is not saved yet. */
  readonly runs: readonly UnsavedRun[];
  /** Runs this process is at; `waiting`: those of them that wait for something. */
  readonly worker: { readonly running: number; readonly waiting: number };
}

export interface UnsavedRun {
  readonly runId: string;
  /** Everything up to this position is saved, and was at this time. */
  readonly notSavedSince: { readonly seq: number; readonly at: number };
  /** Steps that have ended and whose outcome is not saved yet. */
  readonly steps: number;
}

interface Trouble {
  /** Wall time and monotonic time of the first failed attempt. */
  readonly at: number;
  readonly start: number;
  error: unknown;
  /** A write has failed, so that only a write can prove that the store is back. */
  isWrite: boolean;
  attempts: number;
  pause: number;
  /** Monotonic time of the next attempt. */
  until: number;
}

interface HealthListener {
  failing(error: unknown): void;
  recovered(sinceMs: number): void;
}

/**
 * What a process knows about its store: a circuit breaker. One failed attempt is a hiccup. When the next one fails too, the store counts
 * as failing: it is asked only now and then, with growing pauses, until a write succeeds.
 */
export class StoreHealth {
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

  get failing(): boolean {
    return this.#trouble !== null && this.#trouble.attempts > 1;
  }

  /** For how long attempts have failed. */
  get failingMs(): number {
    return this.#trouble ? Math.round(this.#clock.monotonic() - this.#trouble.start) : 0;
  }

  /** For how long it has not failed any more; for ever where it never has. */
  get soundMs(): number {
    return this.failing ? 0 : this.#clock.monotonic() - this.#recoveredAt;
  }

  /** How long to leave the store alone. */
  get restMs(): number {
    return this.#trouble ? Math.max(0, this.#trouble.until - this.#clock.monotonic()) : 0;
  }

  /** Whether the store went back in time. Nothing mends that while this process lives. */
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

  get store(): Health["store"] {
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

  /** The store has answered a question. */
  answered(): void {
    if (this.#trouble && !this.#trouble.isWrite) this.#recover();
  }

  /** Asks for somebody who can wait: while the store fails, one question at a time and after its pause. `undefined`: not asked. */
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

  /** Answers when the store does not fail any more. */
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
    const now = this.#clock.monotonic();
    const trouble = this.#trouble;
    if (!trouble) {
      const [pause, at] = [FIRST_PAUSE_MS, this.#clock.now()];
      this.#trouble = { at, start: now, error, isWrite, attempts: 1, pause, until: now + pause };
      return;
    }
    trouble.error = error;
    trouble.isWrite ||= isWrite;
    // One that was already under way says nothing new.
    if (now < trouble.until) return;
    trouble.attempts++;
    trouble.pause = Math.min(trouble.pause * 2, LONGEST_PAUSE_MS);
    trouble.until = now + trouble.pause;
    if (trouble.attempts === 2) this.#listener.failing(error);
  }
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The way into an engine's store, which tells listeners when it fails and when it is back. */
export function openQueue(
  store: Store,
  ports: Ports,
  emitter: Emitter,
  { storePatienceMs: patienceMs = 60_000, onSaveFailure = "stop" }: EngineOptions,
): CommitQueue {
  const { clock, logger } = ports;
  if (!Number.isFinite(patienceMs) || patienceMs <= 0)
    throw new HoldfastError("HF-1003", { option: "storePatienceMs", problem: "it must be a number above 0" });
  if (onSaveFailure !== "stop" && onSaveFailure !== "continue")
    throw new HoldfastError("HF-1003", { option: "onSaveFailure", problem: "it must be stop or continue" });
  const health = new StoreHealth(clock, {
    failing(error) {
      logger.error("the store fails", { error: message(error) });
      emitter.emit({ type: "store_failing", at: clock.now(), error });
    },
    recovered(sinceMs) {
      logger.info("the store is back", { sinceMs });
      emitter.emit({ type: "store_recovered", at: clock.now(), sinceMs });
    },
  });
  return new CommitQueue(store, ports, {
    patienceMs,
    ahead: onSaveFailure === "continue",
    health,
    onFailure({ runIds, error, sinceMs }) {
      const at = clock.now();
      logger.error("not saved", { runs: runIds.length, sinceMs, error: String(error) });
      for (const runId of runIds) emitter.emit({ type: "checkpoint_failed", runId, at, error, sinceMs });
    },
  });
}

/** Does `work`; where the store fails, once more when it is back. */
export async function oncePossible(health: StoreHealth, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!health.failing) throw error;
    await health.whenBack();
    await oncePossible(health, work);
  }
}

/** Reads for somebody who waits: a look that fails says nothing about the run, until the patience ends. */
export function patientRead(
  store: Store,
  { options, health }: CommitQueue,
  { clock }: Ports,
): (runId: string) => Promise<RunRow | null | undefined> {
  let seenAt = clock.monotonic();
  const isOver = (): boolean => clock.monotonic() - seenAt >= options.patienceMs;
  return async (runId) => {
    try {
      const look = () => readRun(store, runId);
      const row = isOver() ? await look() : await health.askGently(look);
      if (row !== undefined) seenAt = clock.monotonic();
      return row;
    } catch (error) {
      if (isOver() || isOut(error)) throw error;
      return undefined;
    }
  };
}

/** What this process knows of a run that it is at. */
export interface HeldRun {
  readonly row: RunRow;
  /** The last position that is saved, where saving takes longer than it should. */
  readonly unsavedSince: number | undefined;
}

/** So long a write may be on its way without a word about it. */
const SLOW_MS = 1_000;

export function heldRun(
  { failing }: StoreHealth,
  running: readonly Execution[],
  runId: string,
): HeldRun | undefined {
  const writer = running.find((one) => one.runId === runId)?.writer;
  if (!writer) return undefined;
  const isUnsaved = writer.unwritten.length > 0 && (failing || writer.inFlightMs > SLOW_MS);
  return { row: writer.row, unsavedSince: isUnsaved ? writer.row.seq : undefined };
}

export function describeHealth({ store }: StoreHealth, running: readonly Execution[]): Health {
  const runs = running.flatMap(({ runId, writer: { row, unwritten } }): UnsavedRun[] => {
    const steps = unwritten.filter(
      ({ event: { kind } }) => kind === "step_completed" || kind === "step_failed",
    );
    const since = { seq: row.seq, at: row.updatedAt };
    return unwritten.length === 0 ? [] : [{ runId, notSavedSince: since, steps: steps.length }];
  });
  const waiting = running.filter(({ isWaiting }) => isWaiting).length;
  return { store, runs, worker: { running: running.length, waiting } };
}
