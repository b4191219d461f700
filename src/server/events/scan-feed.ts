import type { Clock } from "../../core/clock.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { Logger } from "../../core/logger.ts";
import { keepRecent } from "../../core/recent.ts";
import type { Run, RunStatus } from "../../core/types.ts";
import type { Feed, Read } from "./feed.ts";
import { type Told, toldOf } from "./told.ts";

export interface ScanOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The runs that somebody follows; `null`: all. */
  readonly wanted: () => ReadonlySet<string> | null;
}

const UNENDED: readonly RunStatus[] = ["queued", "running", "waiting", "paused"];
/** Clocks of writers may be behind, and a write may take a while: newer runs than this are looked at again. */
const OVERLAP_MS = 60_000;
const MOST_KNOWN = 50_000;
const PAGE = 500;

/**
 * Finds what happened by looking at every run that may have moved: for stores that can't tell what was written. Its ids
 * count within this process.
 */
export class ScanFeed implements Feed {
  readonly restFactor = 10;
  readonly #options: ScanOptions;
  readonly #epoch = crypto.randomUUID().slice(0, 8);
  /** The position up to which a run was read. */
  readonly #known = new Map<string, number>();
  readonly #hints = new Set<string>();
  /** Runs that ended, or couldn't be read, since they were seen last. */
  #open = new Set<string>();
  /** When it began to watch; what happened before is no news. */
  #since = 0;
  #lastAt = 0;
  #count = 0;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  get #position(): string {
    return `${this.#epoch}.${this.#count}`;
  }

  async start(): Promise<string> {
    this.#since = this.#lastAt = this.#options.clock.now();
    this.#known.clear();
    await this.#scan((run) => Promise.resolve(this.#know(run.id, run.seq)));
    return this.#position;
  }

  hint(runId: string): void {
    this.#hints.add(runId);
  }

  async next(): Promise<Read> {
    const told: Told[] = [];
    const hinted = [...this.#hints];
    this.#hints.clear();
    const look = async (run: Run): Promise<void> => {
      if ((this.#known.get(run.id) ?? -1) >= run.seq) return;
      await this.#read(run, told).catch((error: unknown) => {
        this.#options.logger.warn("a run could not be followed", { runId: run.id, error: String(error) });
        this.#open.add(run.id);
      });
    };
    // What was read until it failed is told all the same.
    await (hinted.length > 0 ? this.#lookAt(hinted, look) : this.#scan(look)).catch((error: unknown) =>
      this.#options.logger.warn("what is new could not be read", { error: String(error) }),
    );
    return { told, position: this.#position, hasMore: false };
  }

  async missed(): Promise<Read> {
    return { told: null, position: this.#position, hasMore: false };
  }

  #know(id: string, seq: number): void {
    keepRecent(this.#known, id, seq, MOST_KNOWN);
  }

  async #lookAt(ids: Iterable<string>, see: (run: Run) => Promise<void>): Promise<void> {
    const wanted = this.#options.wanted();
    for (const id of ids) {
      const run = wanted === null || wanted.has(id) ? await this.#options.engine.get(id) : null;
      if (run) await see(run);
    }
  }

  /** Every run that may have moved: the unended ones, those that were so before, the newest, and those asked for. */
  async #scan(see: (run: Run) => Promise<void>): Promise<void> {
    const wanted = this.#options.wanted();
    if (wanted !== null) return this.#lookAt(wanted, see);
    const began = this.#options.clock.now();
    const before = this.#open;
    this.#open = new Set();
    try {
      for await (const run of this.#pages({ status: UNENDED })) {
        this.#open.add(run.id);
        before.delete(run.id);
        await see(run);
      }
      for await (const run of this.#pages({})) {
        if (run.createdAt < this.#lastAt - OVERLAP_MS) break;
        before.delete(run.id);
        await see(run);
      }
      for (const id of before) {
        await this.#lookAt([id], see);
        before.delete(id);
      }
    } finally {
      // Those it didn't get to are looked at next time.
      for (const id of before) this.#open.add(id);
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

  async #read(run: Run, told: Told[]): Promise<void> {
    const { reports } = this.#options.engine;
    let after = this.#known.get(run.id) ?? run.origin?.seq ?? 0;
    const isNew = !this.#known.has(run.id);
    while (after < run.seq) {
      const { events, next } = await reports.events(run.id, { after, limit: PAGE });
      for (const line of events)
        if (!isNew || line.at >= this.#since - OVERLAP_MS || run.createdAt >= this.#since)
          told.push(toldOf(`${this.#epoch}.${++this.#count}`, run, line));
      after = events.at(-1)?.seq ?? run.seq;
      this.#know(run.id, after);
      if (next === null) return;
    }
  }
}
