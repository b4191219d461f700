import { isMarked } from "../core/journal/head-mark.ts";
import { keepRecent } from "../core/recent.ts";
import type { Entry, Store } from "../core/store/contract.ts";
import { UNREADABLE } from "../core/values/blind.ts";

/** Known facts about a run's beginning: no entry up to `upTo` is marked, and the first marked one is at `first`. */
interface Known {
  upTo: number;
  first: number;
}

const MOST = 10_000;
const PAGE = 500;

/**
 * Checks the marks of heads. A run that was begun before heads were marked, or that was copied or imported, starts with
 * entries that have no mark of this store: its first marked entry vouches for them by their hashes. From there on every
 * entry must be marked; an unmarked one was written by someone without the key and is reported as damage. So is a run
 * without any marked entry, once all runs are known to have one.
 */
export class HeadCheck {
  readonly #inner: Pick<Store, "entries">;
  readonly #secret: string;
  readonly #runs = new Map<string, Known>();
  /** True when every run has a marked entry. */
  isStrict: boolean;

  constructor(inner: Pick<Store, "entries">, secret: string, isStrict: boolean) {
    this.#inner = inner;
    this.#secret = secret;
    this.isStrict = isStrict;
  }

  /** Called when a run was erased: another one may get its id. */
  forget(runId: string): void {
    this.#runs.delete(runId);
  }

  async check(runId: string, entries: readonly Entry[]): Promise<readonly Entry[]> {
    if (entries.every((entry) => this.#isMarked(runId, entry))) return entries;
    const known = this.#known(runId);
    const checked: Entry[] = [];
    for (const entry of entries) {
      if (this.#isMarked(runId, entry)) checked.push(entry);
      else checked.push((await this.#isBefore(runId, known, entry)) ? entry : { ...entry, head: UNREADABLE });
    }
    return checked;
  }

  #isMarked(runId: string, { seq, head }: Entry): boolean {
    return isMarked(this.#secret, runId, seq, head);
  }

  #known(runId: string): Known {
    const known = this.#runs.get(runId) ?? { upTo: 0, first: Infinity };
    keepRecent(this.#runs, runId, known, MOST);
    return known;
  }

  /** True when no marked entry precedes this one, and one follows it if required. Reads each entry once. */
  async #isBefore(runId: string, known: Known, { seq }: Entry): Promise<boolean> {
    while (known.first === Infinity && (this.isStrict || known.upTo < seq)) {
      const page = await this.#inner.entries(runId, { from: known.upTo + 1, limit: PAGE });
      const [first] = page;
      // An entry is missing: the hash chain reports that.
      if (!first) return !this.isStrict;
      for (const entry of page) {
        if (this.#isMarked(runId, entry)) known.first = entry.seq;
        if (known.first < Infinity) break;
        known.upTo = entry.seq + entry.count - 1;
      }
    }
    return seq < known.first;
  }
}
