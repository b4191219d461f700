import { HoldfastError } from "./errors.ts";
import type { Ports } from "./ports.ts";
import type { Append, AppendResult, Store } from "./store.ts";

/** What became of an append: the store's answer, or `lost` when the store stayed away too long. */
export type CommitResult =
  | AppendResult
  | { readonly ok: false; readonly reason: "lost"; readonly error: unknown };

/** A run with something to write. `take` is asked once per flush; `settle` is told what became of it. */
export interface AppendSource {
  take(): Append | null;
  settle(result: CommitResult): void;
}

export interface CommitOptions {
  /** How long to keep trying while the store fails, before the runs are stopped cleanly. */
  readonly patienceMs: number;
  /** Told of every failed flush: what could not be saved yet, and since when. */
  onFailure(failure: {
    readonly runIds: readonly string[];
    readonly error: unknown;
    readonly sinceMs: number;
  }): void;
}

/**
 * The one way into the store for a process: whatever arrived while a flush was under way goes out in the next
 * one. A failed flush is never repeated blindly: each append is looked up first, by its place and its head.
 */
export class CommitQueue {
  readonly #store: Store;
  readonly #ports: Ports;
  readonly #options: CommitOptions;
  #dirty = new Set<AppendSource>();
  #scheduled = false;
  #writing = false;
  /** Durable flushes so far: what the benchmarks count. */
  flushes = 0;

  constructor(store: Store, ports: Ports, options: CommitOptions) {
    this.#store = store;
    this.#ports = ports;
    this.#options = options;
  }

  mark(source: AppendSource): void {
    this.#dirty.add(source);
    this.#schedule();
  }

  /** One append on its own, for acts from outside a run. */
  submit(append: Append): Promise<CommitResult> {
    return new Promise((resolve) => {
      let taken = false;
      const take = () => (taken ? null : ((taken = true), append));
      this.mark({ take, settle: resolve });
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#writing || this.#dirty.size === 0) return;
    this.#scheduled = true;
    this.#ports.clock.defer(() => {
      this.#scheduled = false;
      void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    const sources = this.#dirty;
    this.#dirty = new Set();
    const batch: { source: AppendSource; append: Append }[] = [];
    for (const source of sources) {
      const append = source.take();
      if (append) batch.push({ source, append });
    }
    if (batch.length === 0) return this.#schedule();
    this.#writing = true;
    const results = await this.#write(batch.map(({ append }) => append));
    this.#writing = false;
    this.flushes++;
    batch.forEach(({ source }, index) => source.settle(results[index] as CommitResult));
    this.#schedule();
  }

  async #write(appends: readonly Append[]): Promise<readonly CommitResult[]> {
    try {
      return await this.#store.append(appends);
    } catch (error) {
      return this.#lookUp(appends, error);
    }
  }

  /** After an unknown outcome: ask the store what it has, and write only what it does not have. */
  async #lookUp(appends: readonly Append[], first: unknown): Promise<readonly CommitResult[]> {
    const results = new Map<Append, CommitResult>();
    const runIds = appends.map((append) => append.run.id);
    const error = await this.#patiently(runIds, first, async () => {
      const open = appends.filter((append) => !results.has(append));
      for (const append of open) if (await this.#landed(append)) results.set(append, { ok: true });
      const missing = open.filter((append) => !results.has(append));
      const again = missing.length === 0 ? [] : await this.#store.append(missing);
      missing.forEach((append, index) => results.set(append, again[index] as CommitResult));
    });
    return appends.map((append) => results.get(append) ?? { ok: false, reason: "lost", error });
  }

  /** What became of an append that was not sent through here: a `conflict` when it did not happen. */
  async outcomeOf(append: Append | undefined, runId: string, first: unknown): Promise<CommitResult> {
    let landed = false;
    const error = await this.#patiently([runId], first, async () => {
      // Also without an append: the store must answer before anything is tried again.
      await this.#store.read(runId);
      landed = append !== undefined && (await this.#landed(append));
    });
    if (error !== undefined) return { ok: false, reason: "lost", error };
    return landed ? { ok: true } : { ok: false, reason: "conflict", row: null };
  }

  async #landed(append: Append): Promise<boolean> {
    const [entry] = await this.#store.entries(append.run.id, { from: append.entry.seq, limit: 1 });
    return entry?.seq === append.entry.seq && entry.head === append.entry.head;
  }

  /** Repeats `work` with growing pauses until it succeeds (answers undefined) or patience ends (answers the error). */
  async #patiently(runIds: readonly string[], first: unknown, work: () => Promise<void>): Promise<unknown> {
    const { clock } = this.#ports;
    const start = clock.monotonic();
    let error = first;
    for (let pause = 20; ; pause = Math.min(pause * 2, 2_000)) {
      const sinceMs = clock.monotonic() - start;
      this.#options.onFailure({ runIds, error, sinceMs });
      if (HoldfastError.is(error, "HF-3012") || sinceMs >= this.#options.patienceMs) return error;
      await new Promise<void>((resolve) => clock.setTimer(resolve, pause));
      try {
        await work();
        return undefined;
      } catch (next) {
        error = next;
      }
    }
  }
}
