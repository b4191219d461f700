import type { Clock } from "../clock.ts";
import type { RunRow } from "../types.ts";

/** So many due runs are looked at in one go. */
const PAGE = 100;

/** Clocks of other processes, which say when a run was written to, may be ahead by this much. */
const LATER_MS = 60_000;

/** So many that nothing can be done about are looked past, to find those behind them. */
const MOST_PASSED = 6_400;

/** For so long, runs that are being seen to may stand before others. */
const IN_HAND_MS = 5_000;

export interface SweeperDeps {
  readonly clock: Clock;
  /** The store's time, as far as it is known here. */
  readonly now: () => number;
  /** Whether runs may be taken at this time at all. */
  readonly mayTake: () => boolean;
  /** For how many more runs there is room. */
  readonly room: () => number;
  /** What is done before a sweep asks for due runs. */
  readonly prepare: () => Promise<void>;
  /** A store that was put back under this process must not be worked on: asked for who it is, it tells. */
  readonly check: () => Promise<unknown>;
  readonly due: (limit: number) => Promise<readonly RunRow[]>;
  /** Somebody is at it here already. */
  readonly isTaken: (row: RunRow) => boolean;
  /** Takes a run, or does what is due about it. */
  readonly take: (row: RunRow) => Promise<Take>;
  readonly failed: (error: unknown) => void;
}

/** What became of a due run: it is advanced here from now on; all that was due is done; or it is due as before. */
export type Take = "taken" | "done" | "left";

interface Sweep {
  /** Runs that this sweep has tried to take: it does not try again what it could not. */
  readonly tried: Set<string>;
  readonly taken: string[];
  /** Given where all that is due is to be taken: what was written to after this moment is left to other sweeps. */
  readonly until?: number;
}

/**
 * Looks for due runs and has them taken, a page at a time. It looks again only as long as it finds runs that it has not tried, and lets
 * everything else of the process have its turn after every page.
 */
export class Sweeper {
  readonly #deps: SweeperDeps;
  #sweeping: Promise<string[]> | null = null;
  #again = false;
  #stopped = false;
  /** The longest due of those that were all being seen to here when last looked at, and since when it was. */
  #inHand: { readonly id: string; readonly since: number } | undefined;
  /** Those who wait for room. */
  #waiting: (() => void)[] = [];

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
  }

  /** The sweep that is under way. */
  get sweeping(): Promise<string[]> | null {
    return this.#sweeping;
  }

  /** Looks for due runs now; answers the ids of those taken, also by a sweep that was already under way. */
  sweep(): Promise<string[]> {
    this.#again = true;
    this.#sweeping ??= this.#whileAsked().finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  /**
   * Takes every run that is due at this time. Where there are more of them than there is room for, it goes on as room is made, and
   * answers when the last has been taken. Runs that were written to later are left to other sweeps.
   */
  async all(): Promise<string[]> {
    const taken = this.#sweeping ? [...(await this.#sweeping)] : [];
    const sweep: Sweep = { tried: new Set(taken), taken, until: this.#deps.now() + LATER_MS };
    while (!this.#stopped && (await this.#pages(sweep)) === "full") {
      const room = new Promise<void>((resolve) => this.#waiting.push(resolve));
      if (this.#deps.room() <= 0) await room;
    }
    return sweep.taken;
  }

  /** Takes a run that is known to be due, without looking for others. With no room for it, a later sweep sees to it. */
  async one(row: RunRow): Promise<void> {
    const { mayTake, room, isTaken, check, take, failed } = this.#deps;
    if (this.#stopped || !mayTake() || room() <= 0 || isTaken(row)) return;
    try {
      await check();
      if (!this.#stopped) await take(row);
    } catch (error) {
      if (!this.#stopped) failed(error);
    }
  }

  /** A run that was advanced here is let go. */
  freed(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }

  stop(): void {
    this.#stopped = true;
    this.freed();
  }

  async #whileAsked(): Promise<string[]> {
    const sweep: Sweep = { tried: new Set(), taken: [] };
    while (this.#again && !this.#stopped) {
      this.#again = false;
      sweep.tried.clear();
      await this.#pages(sweep);
    }
    return sweep.taken;
  }

  /** Page by page, until nothing is left to try (`done`) or there is no room for more (`full`). */
  async #pages(sweep: Sweep): Promise<"done" | "full"> {
    const { until } = sweep;
    const { mayTake, room, prepare, check, due, isTaken } = this.#deps;
    try {
      if (!this.#stopped && mayTake()) await prepare();
      for (let passed = 0; !this.#stopped && mayTake(); ) {
        const free = room();
        if (free <= 0 && until === undefined) return "full";
        const limit = Math.min(Math.max(free, 1), PAGE) + passed;
        const rows = await due(limit);
        if (rows.length > 0) await check();
        const isFresh = (row: RunRow) =>
          !isTaken(row) && !sweep.tried.has(row.id) && row.updatedAt <= (until ?? row.updatedAt);
        const fresh = rows.filter(isFresh);
        const tried = fresh.slice(0, Math.max(0, room()));
        if (fresh.length > 0 && tried.length === 0) return "full";
        const gone = await this.#take(sweep, tried);
        const isAll = rows.length < limit && tried.length === fresh.length;
        const isEnough = until === undefined && this.#isInHand(rows);
        if (isAll || isEnough || (fresh.length === 0 && passed >= MOST_PASSED)) return "done";
        // What stays in the list stands before what comes next.
        passed = Math.min(Math.max(rows.length - gone, fresh.length === 0 ? 2 * passed : 0), MOST_PASSED);
        await this.#breathe();
      }
    } catch (error) {
      // Whoever stops a worker may close its store next.
      if (!this.#stopped) this.#deps.failed(error);
    }
    return "done";
  }

  /** Answers how many are not due any more. */
  async #take({ tried, taken }: Sweep, rows: readonly RunRow[]): Promise<number> {
    for (const { id } of rows) tried.add(id);
    const done = await Promise.all(rows.map((row) => this.#deps.take(row)));
    taken.push(...rows.flatMap(({ id }, index) => (done[index] === "taken" ? [id] : [])));
    return done.filter((one) => one !== "left").length;
  }

  /**
   * Whether all of them are being seen to here, and will be gone before long: a sweep need not look past them, which would mean to read
   * all of a thousand children again and again until the last has ended. Where the first of them stays, it does.
   */
  #isInHand([first, ...others]: readonly RunRow[]): boolean {
    const { clock, isTaken } = this.#deps;
    const isAll = first !== undefined && isTaken(first) && others.every(isTaken);
    if (!isAll) this.#inHand = undefined;
    else if (this.#inHand?.id !== first.id) this.#inHand = { id: first.id, since: clock.monotonic() };
    return this.#inHand !== undefined && clock.monotonic() - this.#inHand.since < IN_HAND_MS;
  }

  /** Lets others have their turn: a store that answers at once would leave them none. */
  #breathe(): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.defer(resolve));
  }
}
