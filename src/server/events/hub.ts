import type { Clock } from "../../core/clock.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { Logger } from "../../core/logger.ts";
import type { Store } from "../../core/store/contract.ts";
import { ChangeFeed, type Feed, type Read } from "./feed.ts";
import { Recent } from "./recent.ts";
import { ScanFeed } from "./scan-feed.ts";
import { Batch, type Told } from "./told.ts";

/** Told what happens in runs: those of each run in order and without gaps, from when it began to listen. */
export interface Listener {
  /** The runs it wants; `null`: all. */
  readonly runs: ReadonlySet<string> | null;
  /** For named runs: the events of one of them. */
  heard(batch: Batch): void;
  /** What happened until now can't be found any more. */
  lost?(): void;
}

export interface HubOptions {
  readonly engine: Engine;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How often the store is asked what is new. Default 250 ms. */
  readonly pollMs?: number;
}

const POLL_MS = 250;
/** The store isn't asked again sooner, however much this process writes. */
const GAP_MS = 20;
/** How long it goes on when nobody listens, for readers that come back. */
const LINGER_MS = 60_000;

/**
 * Finds out what happens in runs, whichever process writes them, for all streams of this server together. It asks the
 * store again and again, and at once when this process has written something. While nobody listens, it rests.
 */
export class Hub {
  readonly recent = new Recent();
  readonly #options: HubOptions;
  readonly #feed: Feed;
  readonly #ofAll = new Set<Listener>();
  readonly #ofRun = new Map<string, Set<Listener>>();
  #listeners = 0;
  #position = "";
  #ready: Promise<void> | null = null;
  #asking: Promise<void> | null = null;
  /** Why the last question wasn't answered. */
  #failure: Error | undefined;
  #askedAt = 0;
  #leftAt = 0;
  #isNudged = false;
  #isClosed = false;
  #cancel: () => void = () => undefined;
  #stopHearing: () => void = () => undefined;

  constructor(options: HubOptions) {
    this.#options = options;
    const { store, logger, engine, clock } = options;
    const changes = store.changes?.bind(store);
    this.#feed = changes
      ? new ChangeFeed({ changes }, logger)
      : new ScanFeed({ engine, clock, logger, wanted: () => this.#wanted() });
  }

  /** A reader that has heard everything so far goes on after this. */
  get position(): string {
    return this.#position;
  }

  /** Resolves when it follows what happens. */
  ready(): Promise<void> {
    this.#leftAt = this.#options.clock.monotonic();
    this.#ready ??= this.#start().catch((error: unknown) => {
      this.#ready = null;
      throw error;
    });
    return this.#ready;
  }

  /** Call it when ready. From now on, the listener hears everything that comes after `position`. */
  listen(listener: Listener): () => void {
    this.#listeners++;
    for (const group of this.#groupsOf(listener)) group.add(listener);
    return () => {
      let isThere = false;
      for (const group of this.#groupsOf(listener)) isThere = group.delete(listener) || isThere;
      for (const run of listener.runs ?? []) if (this.#ofRun.get(run)?.size === 0) this.#ofRun.delete(run);
      if (isThere && --this.#listeners === 0) this.#leftAt = this.#options.clock.monotonic();
    };
  }

  /** What a reader missed between an event it was told and a position of this hub. */
  missed(lastId: string, upTo: string): Promise<Read> {
    return this.#feed.missed(lastId, upTo);
  }

  /** Asks the store now. Resolves when everything that was there when it was called is told. */
  async ask(): Promise<void> {
    await this.ready();
    // What is under way may have read the store before this was called.
    await this.#asking;
    await this.#ask();
    if (this.#failure !== undefined) throw this.#failure;
  }

  close(): void {
    this.#isClosed = true;
    this.#rest();
  }

  #groupsOf({ runs }: Listener): Set<Listener>[] {
    if (runs === null) return [this.#ofAll];
    return [...runs].map((run) => {
      const group = this.#ofRun.get(run) ?? new Set();
      this.#ofRun.set(run, group);
      return group;
    });
  }

  #wanted(): ReadonlySet<string> | null {
    // While it lingers, readers of all runs may come back.
    return this.#ofAll.size > 0 || this.#listeners === 0 ? null : new Set(this.#ofRun.keys());
  }

  async #start(): Promise<void> {
    this.#position = await this.#feed.start();
    if (this.#isClosed) return;
    this.#hear();
    this.#arm(this.#pollMs);
  }

  #rest(): void {
    this.#cancel();
    this.#stopHearing();
    this.recent.clear();
    this.#ready = null;
  }

  get #pollMs(): number {
    return this.#options.pollMs ?? POLL_MS;
  }

  #arm(ms: number): void {
    this.#cancel();
    this.#cancel = this.#options.clock.setTimer(() => void this.#ask(), ms, { background: true });
  }

  /** What this process writes itself is told at once, and what others write if the store hears it from them. */
  #hear(): void {
    const { engine, store } = this.#options;
    const events = engine.events({ most: 10_000 });
    const stop = store.hear?.(({ runs }) => this.#nudge(...(runs ?? [])));
    this.#stopHearing = () => {
      stop?.();
      events.return?.().catch(() => undefined);
    };
    const follow = async (): Promise<void> => {
      for await (const event of events) if ("runId" in event) this.#nudge(event.runId);
    };
    follow().catch((error: unknown) =>
      this.#options.logger.warn("own events are not followed", { error: String(error) }),
    );
  }

  #nudge(...runs: readonly string[]): void {
    for (const runId of runs) this.#feed.hint?.(runId);
    if (this.#asking) this.#isNudged = true;
    if (this.#asking) return;
    const since = this.#options.clock.monotonic() - this.#askedAt;
    // What goes wrong is logged where it happens.
    if (since >= GAP_MS) this.#ask().catch(() => undefined);
    else this.#arm(GAP_MS - since);
  }

  /** One question at a time, so that events are told in order. */
  #ask(): Promise<void> {
    this.#asking ??= this.#readAll().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #readAll(): Promise<void> {
    const { clock, logger } = this.#options;
    this.#cancel();
    this.#askedAt = clock.monotonic();
    this.#failure = undefined;
    try {
      for (let hasMore = true; hasMore && !this.#isClosed; ) {
        const read = await this.#feed.next(this.#position);
        this.#tell(read);
        hasMore = read.hasMore;
        // So that what was told is sent before there is more.
        if (hasMore) await new Promise((resolve) => setTimeout(resolve, 0));
      }
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      logger.warn("what is new could not be read", { error: String(error) });
    }
    const now = clock.monotonic();
    const isLeft = this.#listeners === 0 && now - this.#leftAt >= LINGER_MS;
    if (isLeft || this.#isClosed) this.#rest();
    else if (this.#isNudged) this.#arm(GAP_MS);
    else this.#arm(Math.max(this.#pollMs, this.#feed.restFactor * (now - this.#askedAt)));
    this.#isNudged = false;
  }

  /** Position and listeners change together, so that whoever comes in between misses nothing and hears nothing twice. */
  #tell({ told, position }: Read): void {
    this.#position = position;
    if (told === null) {
      this.recent.clear();
      for (const listener of this.#ofAll) listener.lost?.();
    } else if (told.length > 0) {
      this.recent.keep(told);
      const batch = new Batch(told);
      for (const listener of this.#ofAll) listener.heard(batch);
      if (this.#ofRun.size > 0) this.#tellRuns(told);
    }
  }

  #tellRuns(told: readonly Told[]): void {
    const byRun = new Map<string, Told[]>();
    for (const one of told) {
      if (!this.#ofRun.has(one.line.run)) continue;
      const own = byRun.get(one.line.run) ?? [];
      byRun.set(one.line.run, own);
      own.push(one);
    }
    for (const [run, own] of byRun) {
      const batch = new Batch(own);
      for (const listener of this.#ofRun.get(run) ?? []) listener.heard(batch);
    }
  }
}
