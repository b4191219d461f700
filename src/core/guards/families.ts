import type { JournalEvent } from "../journal/events.ts";
import { headsOf } from "../journal/read.ts";
import { addSpent, NOTHING, reportOf, type Spent, savedSpent, spentAbove } from "../journal/spent.ts";
import { keepRecent } from "../recent.ts";
import type { Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";

/** The saved usage of a run and all runs below it. */
export interface FamilyTotal {
  readonly row: RunRow;
  readonly spent: Spent;
  /** Runs below it that may use more. */
  readonly below: readonly RunRow[];
}

/** The maximum number of cached journals; a forgotten one is read again. */
const MOST_LEDGERS = 1_000;

/**
 * Adds up the usage of families of runs. It uses only what the runs record anyway, so a crash can't leave anything
 * inconsistent: a run's row states what it and its ended children have used; its journal states which of its children
 * haven't reported yet and what the others had reported, both as of one position; the rest is in the children's rows.
 */
export class Families {
  static readonly #known = new WeakMap<Store, Families>();
  readonly #store: Store;
  readonly #ledgers = new Map<string, Ledger>();
  readonly #readings = new Map<string, Reading>();

  private constructor(store: Store) {
    this.#store = store;
  }

  /** One per store, so that all runs of a process share its cache. */
  static of(store: Store): Families {
    const known = Families.#known.get(store) ?? new Families(store);
    Families.#known.set(store, known);
    return known;
  }

  /** The total as of a moment after this call. Callers during a reading share the next one. */
  total(runId: string): Promise<FamilyTotal | null> {
    const reading = this.#readings.get(runId) ?? new Reading(() => this.#total(runId, true));
    this.#readings.set(runId, reading);
    return reading.ask(() => this.#readings.delete(runId));
  }

  /** The runs above this one, nearest first. */
  async above({ parent }: RunRow): Promise<RunRow[]> {
    const row = parent && (await this.#store.read(parent.runId));
    return row ? [row, ...(await this.above(row))] : [];
  }

  async #total(runId: string, isTop: boolean): Promise<FamilyTotal | null> {
    const row = await this.#store.read(runId);
    if (!row) return null;
    if (!isTop && row.openChildren === 0) return { row, spent: savedSpent(row), below: [] };
    const known = await this.#ledger(runId).read();
    if (!known) return null;
    const children = await Promise.all(
      known.unreported.map(async ([id, reported]) => {
        const child = await this.#total(id, false);
        return child && { ...child, spent: spentAbove(child.spent, reported) };
      }),
    );
    let spent = savedSpent(known.row);
    const below: RunRow[] = [];
    for (const child of children) {
      if (!child) continue;
      spent = addSpent(spent, child.spent);
      below.push(child.row, ...child.below);
    }
    return { row: known.row, spent, below };
  }

  #ledger(runId: string): Ledger {
    const ledger = this.#ledgers.get(runId) ?? new Ledger(this.#store, runId);
    keepRecent(this.#ledgers, runId, ledger, MOST_LEDGERS);
    return ledger;
  }
}

/** One question asked by many callers at once: an answer is never older than the question. */
class Reading {
  readonly #read: () => Promise<FamilyTotal | null>;
  #current: Promise<FamilyTotal | null> | undefined;
  #next: Promise<FamilyTotal | null> | undefined;

  constructor(read: () => Promise<FamilyTotal | null>) {
    this.#read = read;
  }

  ask(idle: () => void): Promise<FamilyTotal | null> {
    if (!this.#current) return this.#begin(idle);
    this.#next ??= this.#current.catch(() => null).then(() => this.#begin(idle));
    return this.#next;
  }

  #begin(idle: () => void): Promise<FamilyTotal | null> {
    this.#next = undefined;
    const current = this.#read().finally(() => {
      this.#current = undefined;
      if (!this.#next) idle();
    });
    this.#current = current;
    return current;
  }
}

interface Known {
  readonly row: RunRow;
  /** Children that may use more than they have reported, with what they have reported. */
  readonly unreported: readonly (readonly [string, Spent])[];
}

/** A run's journal entries about its children, read incrementally. */
class Ledger {
  readonly #store: Store;
  readonly #runId: string;
  readonly #children = new Map<string, { reported: Spent; isOver: boolean }>();
  #seq = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Store, runId: string) {
    this.#store = store;
    this.#runId = runId;
  }

  /** One at a time, so that row and children belong to the same position. */
  read(): Promise<Known | null> {
    const turn = this.#turn.then(() => this.#read());
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #read(): Promise<Known | null> {
    const row = await this.#store.read(this.#runId);
    if (!row) return null;
    // The store was restored.
    if (row.seq < this.#seq) this.#forget();
    for await (const { events } of headsOf(this.#store, row.id, this.#seq + 1, row.seq))
      for (const event of events) if (event.seq > this.#seq && event.seq <= row.seq) this.#take(event);
    this.#seq = row.seq;
    const unreported = [...this.#children].filter(([, { isOver }]) => !isOver);
    return { row, unreported: unreported.map(([id, { reported }]) => [id, reported] as const) };
  }

  #take(event: JournalEvent): void {
    if (event.kind === "run_forked") this.#children.clear();
    if (event.kind === "step_started" && event.meta.child !== undefined) {
      const reported = this.#children.get(event.meta.child)?.reported ?? NOTHING;
      this.#children.set(event.meta.child, { reported, isOver: false });
    }
    if (event.kind === "child_finished") {
      const { child, status } = event.meta;
      const reported = addSpent(this.#children.get(child)?.reported ?? NOTHING, reportOf(event.meta));
      // A failed child can be resumed on its own.
      if (status === "completed") this.#children.delete(child);
      else this.#children.set(child, { reported, isOver: status === "cancelled" });
    }
  }

  #forget(): void {
    this.#children.clear();
    this.#seq = 0;
  }
}
