import { keepRecent } from "../recent.ts";
import type { Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import { eventsSince } from "./just-read.ts";
import { loadRun } from "./load.ts";
import type { RunState } from "./state.ts";
import { LONG, openState } from "./summary.ts";
import type { Values } from "./values.ts";

/** The number of cached runs, and the longest part of a journal to hold for each. */
const KEPT = 16;
const MOST_BYTES = 8_000_000;

/** Outcomes of finished steps beyond this length stay in the store: readers ask for what is open, rarely for those. */
const KEEPS = 65_536;

interface Fold {
  readonly seq: number;
  readonly head: string;
  readonly state: RunState;
}

/** A run advanced in this process: its row and the written part of its state. */
export interface LiveRun {
  readonly row: RunRow;
  readonly state: RunState;
}

/**
 * The states of runs, for readers. A run is read once from its newest snapshot, or, where no loop makes one worth it,
 * all heads of its entries; after that only new entries are read. A run advanced in this process isn't read at all.
 */
export class Folds {
  readonly #store: Store;
  readonly #values: Values;
  readonly #kept = new Map<string, Fold>();
  /** States that are known in part. */
  readonly #open = new Map<string, Fold>();
  #live: (runId: string) => LiveRun | undefined = () => undefined;

  constructor(store: Store, values: Values) {
    this.#store = store;
    this.#values = values;
  }

  /** Sets the function that finds runs advanced in this process. */
  watch(live: (runId: string) => LiveRun | undefined): void {
    this.#live = live;
  }

  /**
   * The open part of the run's state as of `row`: steps that aren't finished, and messages, whose content may have to be
   * read. A step that isn't there may be finished. Of a long run this reads only what its newest summary doesn't say.
   */
  async open(row: RunRow): Promise<RunState> {
    const isKnown = this.#kept.has(row.id) || this.#live(row.id)?.row.seq === row.seq;
    if (isKnown || row.seq < LONG) return this.at(row);
    const known = this.#open.get(row.id);
    this.#open.delete(row.id);
    const state =
      (known && (await this.#since(known, row))) ?? (await openState(this.#store, this.#values, row));
    if (!state) return this.at(row);
    keepRecent(this.#open, row.id, { seq: row.seq, head: row.head, state }, KEPT);
    return state;
  }

  /** The run's state as of `row`. Read-only, because it is shared. */
  async at(row: RunRow): Promise<RunState> {
    const live = this.#live(row.id);
    if (live?.row.seq === row.seq && live.row.head === row.head) return live.state;
    const known = this.#kept.get(row.id);
    // A concurrent reader reads it from the start: two must not update one state.
    this.#kept.delete(row.id);
    const state = (known && (await this.#since(known, row))) ?? (await this.#load(row));
    const held = state.tailBytes + state.snapshotBytes - (state.unread?.length ?? 0);
    if (held <= MOST_BYTES) this.#keep(row, state);
    return state;
  }

  #load(row: RunRow): Promise<RunState> {
    return loadRun(this.#store, this.#values, row, row.seq, { keeps: KEEPS });
  }

  #keep({ id, seq, head }: RunRow, state: RunState): void {
    keepRecent(this.#kept, id, { seq, head, state }, KEPT);
  }

  /** The cached state brought up to date; `undefined` when it must be read from the start. */
  async #since(known: Fold, row: RunRow): Promise<RunState | undefined> {
    const since = await eventsSince(this.#store, known, row);
    if (!since) return undefined;
    const { state } = known;
    try {
      for (const event of since.events) state.apply(event);
    } catch {
      return undefined;
    }
    state.tailBytes += since.bytes;
    return state;
  }
}
