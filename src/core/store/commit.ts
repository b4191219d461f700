import { detached } from "../detached.ts";
import { HoldfastError } from "../errors.ts";
import type { Ports } from "../ports.ts";
import type { Append, AppendResult, Entry, Store } from "./contract.ts";
import { isFileDamage, isOneRuns, isOut } from "./faults.ts";
import type { StoreHealth } from "./health.ts";
import { FIRST_PAUSE_MS, LONGEST_PAUSE_MS } from "./pauses.ts";

/**
 * The outcome of an append: the store's answer; `lost` when the store stayed down too long; `rejected` when it accepted
 * others all the while and not this one.
 */
export type CommitResult =
  | AppendResult
  | { readonly ok: false; readonly reason: "lost" | "rejected"; readonly error: unknown };

/** A run with something to write. `take` is called once per flush; `settle` gets the outcome. */
export interface AppendSource {
  take(): Append | null;
  settle(result: CommitResult): void;
  /** Called when it has thrown: nothing more comes from it. */
  broke(error: unknown): void;
  /** Called after every failed attempt while the store fails; `false` gives up. */
  failing(sinceMs: number): boolean;
}

export interface CommitOptions {
  /** How long to keep trying while the store fails, before the runs are stopped cleanly. */
  readonly patienceMs: number;
  /** Runs continue while the store fails, as long as they only start repeatable calls. */
  readonly ahead: boolean;
  readonly health: StoreHealth;
  /** Called after every flush with what was in it, and how long it took. */
  onFlush?(appends: readonly Append[], ms: number): void;
  /** Called after every failed flush with what couldn't be saved yet, and since when. */
  onFailure(failure: {
    readonly runIds: readonly string[];
    readonly error: unknown;
    readonly sinceMs: number;
  }): void;
}

/** A flush beside another one costs the store a commit of its own, so it takes at least so many runs. */
const LEAST_BESIDE = 8;

/** How long an outside act waits for a failing store. A later one waits for a single attempt. */
export const ACT_PATIENCE_MS = 2_000;

interface Part {
  readonly source: AppendSource;
  readonly append: Append;
}

/** The outcomes of appends; `aside`: it is tried separately from now on. */
type Attempted = Map<Append, CommitResult | "aside">;

/**
 * A process's only way to write to the store: everything that arrives during a flush goes out in the next one. A failed
 * flush is never repeated blindly: each append is looked up first, by its position and its head. While the store fails,
 * only these attempts are made.
 */
export class CommitQueue {
  readonly health: StoreHealth;
  readonly options: CommitOptions;
  readonly #store: Store;
  readonly #ports: Ports;
  readonly #dirty = new Set<AppendSource>();
  #scheduled = false;
  /** What is on its way to the store, and in which flushes. None of it is in `#dirty`. */
  readonly #sent = new Set<AppendSource>();
  readonly #flights = new Set<readonly Part[]>();
  /** Runs of which the store can't write anything, because its file is damaged there. */
  readonly #barred = new Map<string, unknown>();
  /** The number of durable flushes so far, for benchmarks. */
  flushes = 0;

  constructor(store: Store, ports: Ports, options: CommitOptions) {
    this.#store = store;
    this.#ports = ports;
    this.options = options;
    this.health = options.health;
  }

  /** The damage for which the store took nothing more of this run; `undefined` when there is none. */
  damageAt(runId: string): unknown {
    return this.#barred.get(runId);
  }

  /** Called again by a source on its way when its outcome is known. */
  mark(source: AppendSource): void {
    if (this.#sent.has(source)) return;
    this.#dirty.add(source);
    this.#schedule();
  }

  /** Writes one append on its own, for acts from outside. They don't wait for a failing store. */
  submit(append: Append): Promise<CommitResult> {
    return new Promise((resolve) => {
      let taken = false;
      const take = () => (taken ? null : ((taken = true), append));
      const broke = (error: unknown) => resolve({ ok: false, reason: "rejected", error });
      this.mark({ take, settle: resolve, broke, failing: (sinceMs) => sinceMs < ACT_PATIENCE_MS });
    });
  }

  /** True when the store writes runs independently: then none waits for another. */
  get #isApart(): boolean {
    return this.#store.capabilities.independent === true;
  }

  /**
   * Where the store takes several flushes at once, a second one is worth its cost when about as many runs are ready as
   * are on their way, so that this process works while the store does. While the store fails, there is only one.
   */
  get #isDue(): boolean {
    const ready = this.#dirty.size;
    if (ready === 0) return false;
    if (this.#isApart || this.#flights.size === 0) return true;
    if (this.#flights.size >= this.#lanes || this.health.isTroubled || ready < LEAST_BESIDE) return false;
    return [...this.#flights].every((flight) => ready * 2 >= flight.length);
  }

  get #lanes(): number {
    return this.#store.capabilities.lanes ?? 1;
  }

  #schedule(): void {
    if (this.#scheduled || !this.#isDue) return;
    this.#scheduled = true;
    const flush = () => {
      this.#scheduled = false;
      this.#flush();
    };
    const { restMs } = this.health;
    if (restMs === 0) this.#ports.clock.defer(flush);
    else this.#ports.clock.setTimer(flush, restMs);
  }

  #takeAll(sources: Iterable<AppendSource>): Part[] {
    const parts: Part[] = [];
    // A source may be marked again while it is asked.
    for (const source of Array.from(sources)) {
      this.#dirty.delete(source);
      const append = this.#ask(source, () => source.take());
      if (append) parts.push({ source, append });
    }
    return parts;
  }

  /** A run that throws here is stopped on its own: the others continue. */
  #ask<T>(source: AppendSource, question: () => T): T | undefined {
    try {
      return question();
    } catch (error) {
      this.#ports.logger.error("a run could not be written", { error: String(error) });
      source.broke(error);
      return undefined;
    }
  }

  #tell(source: AppendSource, result: CommitResult): void {
    this.#ask(source, () => source.settle(result));
  }

  #flush(): void {
    if (!this.#isDue) return;
    const isFirst = this.#flights.size === 0;
    const batch = this.#takeAll(this.#dirty);
    if (batch.length === 0) return this.#schedule();
    for (const part of this.#partsOf(batch, isFirst)) this.#send(part);
  }

  #partsOf(batch: readonly Part[], isFirst: boolean): readonly (readonly Part[])[] {
    if (this.#isApart) return batch.map((one) => [one]);
    const half = Math.ceil(batch.length / 2);
    const isSplit = isFirst && this.#lanes > 1 && half >= LEAST_BESIDE && !this.health.isTroubled;
    return isSplit ? [batch.slice(0, half), batch.slice(half)] : [batch];
  }

  #send(batch: readonly Part[]): void {
    for (const { source } of batch) this.#sent.add(source);
    this.#flights.add(batch);
    const start = this.#ports.clock.monotonic();
    const appends = batch.map(({ append }) => append);
    const written = (settle: () => void): void => {
      const ms = this.#ports.clock.monotonic() - start;
      this.health.writes.add(ms);
      this.options.onFlush?.(appends, ms);
      for (const { source } of batch) this.#sent.delete(source);
      this.#flights.delete(batch);
      this.flushes++;
      settle();
      this.#schedule();
    };
    const saved = (results: readonly AppendResult[]): void => {
      this.health.saved();
      if (this.#barred.size > 0) for (const { run } of appends) this.#barred.delete(run.id);
      written(() => {
        for (const [index, { source }] of batch.entries()) this.#tell(source, results[index] as CommitResult);
      });
    };
    const failed = async (error: unknown): Promise<void> => written(await this.#lookUp(batch, error));
    const flushed = this.#store.append(appends).then(saved, failed);
    detached(flushed, this.#ports.logger, "a flush");
  }

  /** After an unknown outcome: asks the store what it has, and writes only the rest. */
  async #lookUp(batch: readonly Part[], first: unknown): Promise<() => void> {
    let error = first;
    for (let attempt = 1; ; attempt++) {
      if (isOneRuns(error) || isFileDamage(error)) return this.#allAside(batch, error);
      batch = this.#keep(batch, error);
      if (batch.length === 0) return () => undefined;
      await this.#rest(this.health.restMs);
      try {
        const missing: Part[] = [];
        for (const part of batch) if (!(await this.#landed(part.append))) missing.push(part);
        // If the store answers, newer appends are tried as well: whether it accepts any shows where the fault is.
        const more = this.#isApart ? [] : this.#takeAll(this.#dirty);
        batch = [...batch, ...more];
        const results = await this.#together([...missing, ...more], attempt);
        this.health.saved();
        return () =>
          batch.forEach(({ source, append }) => {
            const result = results.get(append) ?? { ok: true };
            if (result !== "aside") this.#tell(source, result);
          });
      } catch (next) {
        error = next;
      }
    }
  }

  /** Each is tried separately from now on: the trouble of one is not that of the store. */
  #allAside(batch: readonly Part[], error: unknown): () => void {
    for (const part of batch) detached(this.#aside(part, error), this.#ports.logger, "a write by itself");
    return () => undefined;
  }

  async #together(parts: readonly Part[], attempt: number): Promise<Attempted> {
    const results: Attempted = new Map();
    if (parts.length === 0) return results;
    try {
      const again = await this.#store.append(parts.map(({ append }) => append));
      for (const [index, { append }] of parts.entries())
        results.set(append, await this.#judged(append, again[index] as CommitResult));
    } catch (error) {
      if (parts.length === 1) throw error;
      return this.#apart(parts, attempt);
    }
    return results;
  }

  /** The first attempt may still have been in transit, and have arrived before the second. */
  async #judged(append: Append, result: CommitResult): Promise<CommitResult> {
    return !result.ok && (await this.#landed(append)) ? { ok: true } : result;
  }

  /**
   * The store answers but refuses them together: one of them may be at fault. As soon as it accepts one, the others are
   * tried one by one; those it refuses wait separately. The order changes with each attempt.
   */
  async #apart(parts: readonly Part[], attempt: number): Promise<Attempted> {
    const start = attempt % parts.length;
    const results: Attempted = new Map();
    for (const part of [...parts.slice(start), ...parts.slice(0, start)]) {
      try {
        const [result] = await this.#store.append([part.append]);
        results.set(part.append, await this.#judged(part.append, result as CommitResult));
      } catch (error) {
        if (results.size === 0) throw error;
        results.set(part.append, "aside");
        this.#allAside([part], error);
      }
    }
    return results;
  }

  /** Retries one that the store refuses while it accepts others. Nothing else waits for it. */
  async #aside({ source, append }: Part, first: unknown): Promise<void> {
    const { clock } = this.#ports;
    const start = clock.monotonic();
    let error = first;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const sinceMs = clock.monotonic() - start;
      this.options.onFailure({ runIds: [append.run.id], error, sinceMs });
      // The first failure may have been another one's.
      const isBarred = error !== first && isFileDamage(error);
      if (isBarred) this.#barred.set(append.run.id, error);
      if (isBarred || isOut(error) || !source.failing(sinceMs))
        return this.#tell(source, { ok: false, reason: isUnheard(error) ? "lost" : "rejected", error });
      await this.#rest(Math.max(pause, this.health.restMs));
      try {
        if (await this.#landed(append)) return this.#tell(source, { ok: true });
        const [result] = await this.#store.append([append]);
        return this.#tell(source, await this.#judged(append, result as CommitResult));
      } catch (next) {
        error = next;
      }
    }
  }

  /** Called after a failed attempt: sources that won't wait any longer are told, and the rest is returned. */
  #keep(batch: readonly Part[], error: unknown): readonly Part[] {
    const { health, options } = this;
    health.failed(error);
    const sinceMs = health.failingMs;
    options.onFailure({ runIds: batch.map(({ append }) => append.run.id), error, sinceMs });
    const isClosed = isOut(error);
    const gaveUp = [...batch.map(({ source }) => source), ...this.#dirty].filter(
      (source) => isClosed || (health.failing && !source.failing(sinceMs)),
    );
    for (const source of gaveUp) {
      this.#dirty.delete(source);
      this.#tell(source, { ok: false, reason: "lost", error });
    }
    return gaveUp.length === 0 ? batch : batch.filter(({ source }) => !gaveUp.includes(source));
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => this.#ports.clock.setTimer(resolve, ms));
  }

  /** The outcome of an append that wasn't sent through here: a `conflict` when it didn't happen. */
  async outcomeOf(append: Append | undefined, runId: string, first: unknown): Promise<CommitResult> {
    let landed = false;
    const error = await this.#patiently(runId, first, true, async () => {
      // Even without an append, the store must answer before anything is retried.
      await this.#store.read(runId);
      landed = append !== undefined && (await this.#landed(append));
    });
    if (error !== undefined) return { ok: false, reason: "lost", error };
    return landed ? { ok: true } : { ok: false, reason: "conflict", row: null };
  }

  async #landed(append: Append): Promise<boolean> {
    if (append.claim.kind === "erase") return (await this.#store.read(append.run.id)) === null;
    const last = append.entries.at(-1) as Entry;
    const [entry] = await this.#store.entries(append.run.id, { from: last.seq, limit: 1 });
    return entry?.seq === last.seq && entry.head === last.head;
  }

  /** Reads for a run that can't continue without it, repeatedly while the store fails. */
  async read<T>(runId: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (first) {
      let value: T | undefined;
      const error = await this.#patiently(runId, first, false, async () => void (value = await work()));
      if (error !== undefined) throw error as Error;
      this.health.answered();
      return value as T;
    }
  }

  /** Repeats `work` with growing pauses until it succeeds (returns undefined) or patience ends (returns the error). */
  async #patiently(
    runId: string,
    first: unknown,
    isWrite: boolean,
    work: () => Promise<void>,
  ): Promise<unknown> {
    const { clock } = this.#ports;
    const start = clock.monotonic();
    let error = first;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      if (isFinal(error)) return error;
      this.health.failed(error, isWrite);
      const sinceMs = clock.monotonic() - start;
      if (isWrite) this.options.onFailure({ runIds: [runId], error, sinceMs });
      if (sinceMs >= this.options.patienceMs) return error;
      await this.#rest(isOneRuns(error) ? pause : this.health.restMs);
      try {
        await work();
        return undefined;
      } catch (next) {
        error = next;
      }
    }
  }
}

/** Nobody took it or refused it: whoever claims the run next knows no more of it than this process does. */
const isUnheard = (error: unknown): boolean => isOut(error) || HoldfastError.is(error, "HF-7003");

/** The store is closed, or its data is damaged: waiting doesn't help. */
const isFinal = (error: unknown): boolean =>
  isOut(error) || HoldfastError.is(error, "HF-3010") || HoldfastError.is(error, "HF-3011");
