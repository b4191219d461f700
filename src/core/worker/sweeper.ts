import type { Clock } from "../clock.ts";
import { Joint } from "../joint.ts";
import { ended, type RunRow } from "../types.ts";

/** The number of due runs examined at once. */
const PAGE = 100;

/** How far the clocks of other processes, which date their writes, may be ahead. */
const LATER_MS = 60_000;

/** The number of stuck runs to look past, to find those behind them. */
const MOST_PASSED = 6_400;

/** How long runs in progress may block the front of the list. */
const IN_HAND_MS = 5_000;

export interface SweeperDeps {
  readonly clock: Clock;
  /** The store's time, as known here. */
  readonly now: () => number;
  /** True when runs may be taken at all. */
  readonly mayTake: () => boolean;
  /** For how many more runs there is room. */
  readonly room: () => number;
  /** Called before a sweep asks for due runs. */
  readonly prepare: () => Promise<void>;
  /** Asks the store for its identity: a store that was restored under this process must not be used. */
  readonly check: () => Promise<unknown>;
  readonly due: (limit: number) => Promise<readonly RunRow[]>;
  /** True when this process already has it. */
  readonly isTaken: (row: RunRow) => boolean;
  /** Takes a run, or does what is due for it. */
  readonly take: (row: RunRow) => Promise<Take>;
  /** Called when there is nothing else to take. Returns true when runs were left out that come next. */
  readonly nextRound: () => boolean;
  readonly failed: (error: unknown) => void;
  /** True when runs are written independently, so that one which doesn't answer must not keep the others waiting. */
  readonly isApart?: boolean;
}

/** The outcome for a due run: it is advanced here from now on; everything due is done; or it is still due. */
export type Take = "taken" | "done" | "left";

interface Sweep {
  /** Runs that this sweep has tried to take, so that it doesn't try again. */
  readonly tried: Set<string>;
  readonly taken: string[];
  /** Runs that are being taken while the sweep goes on. */
  readonly open: Set<Promise<unknown>>;
  /** Set to take everything due: runs written to after this moment are left to other sweeps. */
  readonly until?: number;
}

/**
 * Looks for due runs and takes them, page by page. It continues only as long as it finds runs that it hasn't tried, and
 * lets other work of the process run after every page.
 */
export class Sweeper {
  readonly #deps: SweeperDeps;
  readonly #check: Joint<unknown>;
  #sweeping: Promise<string[]> | null = null;
  #again = false;
  /** Called when there is more to look for. */
  #wake: () => void = () => undefined;
  #stopped = false;
  readonly #coming = new Set<string>();
  /** The longest due run of those that were all in progress here at the last check, and since when. */
  #inHand: { readonly id: string; readonly since: number } | undefined;
  /** Callers that wait for room. */
  #waiting: (() => void)[] = [];

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
    this.#check = new Joint(() => deps.check());
  }

  /** The current sweep. */
  get sweeping(): Promise<string[]> | null {
    return this.#sweeping;
  }

  /** Looks for due runs now; returns the ids of those taken, including by a sweep already in progress. */
  sweep(): Promise<string[]> {
    this.#again = true;
    this.#wake();
    this.#sweeping ??= this.#whileAsked().finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  /**
   * Takes every run that is due at this time. If there are more than there is room for, it continues as room becomes
   * available, and resolves when the last has been taken. Runs written to later are left to other sweeps.
   */
  async all(): Promise<string[]> {
    const taken = this.#sweeping ? [...(await this.#sweeping)] : [];
    const sweep: Sweep = {
      tried: new Set(taken),
      taken,
      open: new Set(),
      until: this.#deps.now() + LATER_MS,
    };
    while (!this.#stopped && (await this.#pages(sweep)) === "full") {
      const room = new Promise<void>((resolve) => this.#waiting.push(resolve));
      if (this.#deps.room() <= 0) await room;
    }
    return sweep.taken;
  }

  /** Takes a run that is known to be due, without looking for others. Without room, a later sweep takes it. */
  async one(row: RunRow): Promise<void> {
    const { mayTake, room, isTaken, take, failed } = this.#deps;
    if (this.#stopped || !mayTake() || room() <= 0 || isTaken(row)) return;
    if (!ended(row.status)) this.#coming.add(row.id);
    try {
      await this.#check.ask();
      if (!this.#stopped) await take(row);
    } catch (error) {
      if (!this.#stopped) failed(error);
    } finally {
      this.#coming.delete(row.id);
    }
  }

  /** True while `one` takes this run. One that has ended has only its family told. */
  isComing(runId: string): boolean {
    return this.#coming.has(runId);
  }

  /** Called when a run that was advanced here is released. */
  freed(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }

  stop(): void {
    this.#stopped = true;
    this.freed();
  }

  async #whileAsked(): Promise<string[]> {
    const sweep: Sweep = { tried: new Set(), taken: [], open: new Set() };
    for (;;) {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        sweep.tried.clear();
        await this.#pages(sweep);
      }
      if (sweep.open.size === 0) return sweep.taken;
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([...sweep.open, ...(this.#stopped ? [] : [woken])]);
    }
  }

  /** Page by page, until nothing is left to try (`done`) or there is no room for more (`full`). */
  async #pages(sweep: Sweep): Promise<"done" | "full"> {
    const { until } = sweep;
    const { mayTake, room, prepare, due, isTaken, nextRound } = this.#deps;
    try {
      if (!this.#stopped && mayTake()) await prepare();
      for (let passed = 0; !this.#stopped && mayTake(); ) {
        const free = room();
        if (free <= 0 && until === undefined) return "full";
        const limit = Math.min(Math.max(free, 1), PAGE) + passed;
        const rows = await due(limit);
        if (rows.length > 0) await this.#check.ask();
        const isFresh = (row: RunRow) =>
          !isTaken(row) && !sweep.tried.has(row.id) && row.updatedAt <= (until ?? row.updatedAt);
        const fresh = rows.filter(isFresh);
        const tried = fresh.slice(0, Math.max(0, room()));
        if (fresh.length > 0 && tried.length === 0) return "full";
        const gone = await this.#take(sweep, tried);
        const isAll = rows.length < limit && tried.length === fresh.length;
        const isEnough = until === undefined && this.#isInHand(rows);
        const isOver = isAll || isEnough || (fresh.length === 0 && passed >= MOST_PASSED);
        if (isOver && !nextRound()) return "done";
        if (isOver) sweep.tried.clear();
        // Runs that stay in the list precede the next ones.
        passed = isOver
          ? 0
          : Math.min(Math.max(rows.length - gone, gone === 0 ? 2 * passed : 0), MOST_PASSED);
        await this.#breathe();
      }
    } catch (error) {
      // Stopping a worker may be followed by closing its store.
      if (!this.#stopped) this.#deps.failed(error);
    }
    return "done";
  }

  /** Returns how many are no longer due. */
  async #take({ tried, taken, open, until }: Sweep, rows: readonly RunRow[]): Promise<number> {
    let gone = 0;
    const taking = rows.map(async (row) => {
      tried.add(row.id);
      const done = await this.#deps.take(row);
      if (done === "taken") taken.push(row.id);
      if (done !== "left") gone++;
    });
    if (!this.#deps.isApart || until !== undefined) await Promise.all(taking);
    else for (const one of taking) this.#goOnBeside(one, open);
    return gone;
  }

  #goOnBeside(taking: Promise<void>, open: Set<Promise<unknown>>): void {
    const over = taking.catch(this.#deps.failed).finally(() => open.delete(over));
    open.add(over);
  }

  /**
   * True when all of them are in progress here, and will be gone soon: a sweep need not look past them, which would
   * mean reading a thousand children again and again until the last has ended. If the first of them stays, it does.
   */
  #isInHand([first, ...others]: readonly RunRow[]): boolean {
    const { clock, isTaken } = this.#deps;
    const isAll = first !== undefined && isTaken(first) && others.every(isTaken);
    if (!isAll) this.#inHand = undefined;
    else if (this.#inHand?.id !== first.id) this.#inHand = { id: first.id, since: clock.monotonic() };
    return this.#inHand !== undefined && clock.monotonic() - this.#inHand.since < IN_HAND_MS;
  }

  /** Lets other work run, which a synchronous store would starve. */
  #breathe(): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.defer(resolve));
  }
}
