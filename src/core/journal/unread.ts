import type { HoldfastError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { missingValue } from "./door.ts";
import type { Raw } from "./events.ts";
import { damaged, type UnreadPlace, valueIn } from "./journal.ts";
import { isDamage } from "./unreadable.ts";

/** Entries read at once when a value is asked for, and how many of them are held. */
const PAGE = 500;
const MOST_HELD = 4 * PAGE;

/**
 * The values of finished steps that a restored run hasn't asked for yet. The heads that name them are verified; each
 * value is read, with those after it, and compared with its digest when the body asks for it. So a long run is
 * restored without having its whole history in memory.
 */
export class UnreadValues {
  readonly #store: Store;
  readonly #runId: string;
  readonly #places = new Map<number, UnreadPlace>();
  /** The data of entries, by position. */
  readonly #held = new Map<number, string | null>();
  #reading: Promise<void> | undefined;
  /** How much of the journal they are, in characters. */
  length = 0;
  #explain: (found: HoldfastError) => Promise<HoldfastError> = async (found) => found;

  constructor(store: Store, runId: string) {
    this.#store = store;
    this.#runId = runId;
  }

  /** How damage that is found later is told. */
  explain(explain: (found: HoldfastError) => Promise<HoldfastError>): void {
    this.#explain = explain;
  }

  add(seq: number, place: UnreadPlace): void {
    this.#places.set(seq, place);
  }

  /** The value of the event at `seq` as it is stored; `undefined` if it isn't one of these. */
  get(seq: number): Raw | Promise<Raw> | undefined {
    const place = this.#places.get(seq);
    if (!place) return undefined;
    const data = this.#held.get(place.entry);
    if (typeof data !== "string") return this.#explained(this.#fetched(seq, place));
    try {
      return valueIn(this.#runId, place, data);
    } catch (error) {
      return this.#explained(Promise.reject(error));
    }
  }

  async #explained(value: Promise<Raw>): Promise<Raw> {
    try {
      return await value;
    } catch (error) {
      throw isDamage(error) ? await this.#explain(error) : error;
    }
  }

  async #fetched(seq: number, place: UnreadPlace): Promise<Raw> {
    while (!this.#held.has(place.entry)) {
      // Branches of a run ask at the same time, mostly for neighbours.
      if (this.#reading) await this.#reading;
      else await (this.#reading = this.#read(place.entry).finally(() => (this.#reading = undefined)));
    }
    const data = this.#held.get(place.entry) ?? null;
    if (data === null) throw await missingValue(this.#store, this.#runId, seq);
    return valueIn(this.#runId, place, data);
  }

  async #read(from: number): Promise<void> {
    const entries = await this.#store.entries(this.#runId, { from, limit: PAGE });
    if (entries[0]?.seq !== from) throw damaged(this.#runId, from, "An entry is missing.");
    if (this.#held.size + entries.length > MOST_HELD) this.#held.clear();
    for (const { seq, data } of entries) this.#held.set(seq, data);
  }
}
