import type { Clock } from "../../core/clock.ts";
import type { Engine } from "../../core/engine.ts";
import type { Logger } from "../../core/logger.ts";
import type { EventLine } from "../../core/manage/reports/event-page.ts";
import { keepRecent } from "../../core/recent.ts";
import type { Run, RunStatus } from "../../core/types.ts";

/** Told what a run's journal has gained, in order and without gaps as far as the hub has seen the run. */
export interface Listener {
  /** The runs it wants; `null`: all. */
  readonly runs: ReadonlySet<string> | null;
  heard(run: Run, lines: readonly EventLine[]): void;
}

export interface HubOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How often the store is asked what is new. Default 500 ms. */
  readonly pollMs?: number;
}

const UNENDED: readonly RunStatus[] = ["queued", "running", "waiting", "paused"];
/** Clocks of writers may be behind, and a write may take a while: newer runs than this are looked at again. */
const OVERLAP_MS = 60_000;
const MOST_KNOWN = 50_000;
const PAGE = 500;

/**
 * Finds out what happens in runs, whichever process writes them, for all streams of this server together. It asks the
 * store again and again, and at once about a run of which this process hears by itself. While nobody listens, it rests.
 */
export class Hub {
  readonly #options: HubOptions;
  readonly #pollMs: number;
  readonly #listeners = new Set<Listener>();
  /** The position up to which the listeners know a run. */
  readonly #known = new Map<string, number>();
  readonly #busy = new Map<string, Promise<void>>();
  /** When it began to watch; what happened before is no news. */
  #since = 0;
  #unended = new Set<string>();
  #lastAt = 0;
  #cancel: () => void = () => undefined;
  #stopHearing: () => void = () => undefined;
  #ready: Promise<void> | null = null;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#pollMs = options.pollMs ?? 500;
  }

  /** Resolves when nothing that happens from now on can be missed. Returns a function that stops it. */
  async listen(listener: Listener): Promise<() => void> {
    this.#listeners.add(listener);
    await (this.#ready ??= this.#start());
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#rest();
    };
  }

  async #start(): Promise<void> {
    this.#since = this.#lastAt = this.#options.clock.now();
    this.#known.clear();
    await this.#scan((run) => this.#know(run.id, run.seq));
    this.#hear();
    this.#arm(this.#pollMs);
  }

  #rest(): void {
    this.#cancel();
    this.#stopHearing();
    this.#ready = null;
  }

  #know(id: string, seq: number): void {
    keepRecent(this.#known, id, seq, MOST_KNOWN);
  }

  #arm(ms: number): void {
    this.#cancel = this.#options.clock.setTimer(() => void this.#tick(), ms, { background: true });
  }

  async #tick(): Promise<void> {
    const { logger, clock } = this.#options;
    const began = clock.monotonic();
    await this.#scan((run) => this.#look(run)).catch((error: unknown) =>
      logger.warn("what is new could not be read", { error: String(error) }),
    );
    // A large store is asked less often, so that asking takes a tenth of the time at most.
    if (this.#listeners.size > 0) this.#arm(Math.max(this.#pollMs, 10 * (clock.monotonic() - began)));
  }

  /** What this process writes itself is told at once. */
  #hear(): void {
    const events = this.#options.engine.events({ most: 10_000 });
    this.#stopHearing = () => void events.return?.();
    const follow = async (): Promise<void> => {
      for await (const event of events) if ("runId" in event) await this.#lookAt(event.runId);
    };
    follow().catch((error: unknown) =>
      this.#options.logger.warn("own events are not followed", { error: String(error) }),
    );
  }

  async #lookAt(id: string): Promise<void> {
    const run = await this.#options.engine.get(id).catch(() => null);
    if (run) await this.#look(run);
  }

  /** Every run that may have moved: the unended ones, those that were so before, the newest, and those asked for. */
  async #scan(see: (run: Run) => unknown): Promise<void> {
    const { engine, clock } = this.#options;
    const began = clock.now();
    const wanted = new Set<string>();
    const isAll = [...this.#listeners].some(({ runs }) => runs === null);
    for (const { runs } of this.#listeners) for (const id of runs ?? []) wanted.add(id);
    if (isAll) {
      for (const id of this.#unended) wanted.add(id);
      const unended = new Set<string>();
      for await (const run of this.#pages({ status: UNENDED })) {
        unended.add(run.id);
        wanted.delete(run.id);
        await see(run);
      }
      for await (const run of this.#pages({})) {
        if (run.createdAt < this.#lastAt - OVERLAP_MS) break;
        wanted.delete(run.id);
        await see(run);
      }
      this.#unended = unended;
    }
    for (const id of wanted) {
      const run = await engine.get(id);
      if (run) await see(run);
    }
    this.#lastAt = began;
  }

  async *#pages(query: { readonly status?: readonly RunStatus[] }): AsyncGenerator<Run> {
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await this.#options.engine.list({ ...query, limit: PAGE, ...(cursor ? { cursor } : {}) });
      yield* page.runs;
      cursor = page.cursor;
    }
  }

  /** One reading of a run at a time, so that its events are told in order. */
  #look(run: Run): Promise<void> {
    const known = this.#known.get(run.id);
    if (known !== undefined && known >= run.seq) return Promise.resolve();
    const before = this.#busy.get(run.id) ?? Promise.resolve();
    const reading = before
      .then(() => this.#read(run))
      .catch((error: unknown) => {
        this.#options.logger.warn("a run could not be followed", { runId: run.id, error: String(error) });
      });
    this.#busy.set(run.id, reading);
    return reading.finally(() => {
      if (this.#busy.get(run.id) === reading) this.#busy.delete(run.id);
    });
  }

  async #read(run: Run): Promise<void> {
    const { reports } = this.#options.engine;
    let after = this.#known.get(run.id) ?? run.origin?.seq ?? 0;
    const isNew = !this.#known.has(run.id);
    while (after < run.seq) {
      const { events, next } = await reports.events(run.id, { after, limit: PAGE });
      const lines = isNew
        ? events.filter(({ at }) => at >= this.#since - OVERLAP_MS || run.createdAt >= this.#since)
        : events;
      for (const listener of this.#listeners)
        if (lines.length > 0 && (listener.runs?.has(run.id) ?? true)) listener.heard(run, lines);
      after = events.at(-1)?.seq ?? run.seq;
      this.#know(run.id, after);
      if (next === null) return;
    }
  }
}
