import { keepRecent } from "../../core/recent.ts";
import type { RunRow } from "../../core/types.ts";

/** A renewal that follows a write so soon says nothing new. */
const FRESH_MS = 1_400;

/** The number of runs whose newest position is remembered. */
const MOST_SEEN = 10_000;

interface Mirror {
  readonly row: RunRow;
  readonly at: number;
}

type Place = { readonly seq: number; readonly epoch: number };

const placeOf = ({ seq, claim }: RunRow): Place => ({ seq, epoch: claim.epoch });

const isBehind = (a: Place, b: Place | undefined): boolean =>
  b !== undefined && (a.seq < b.seq || a.epoch < b.epoch);

/**
 * The rows of the runs that this process has claims of, as its last writes left them. None is ever behind what anybody
 * here has seen of its run: the engine would take that for a store that has lost writes (HF-3020).
 */
export class Mirrors {
  readonly #rows = new Map<string, Mirror>();
  readonly #newest = new Map<string, Place>();

  /** The row, if it was written under this token and nobody here has seen anything newer. */
  row(runId: string, token: string): RunRow | undefined {
    const row = this.#rows.get(runId)?.row;
    return row?.claim.token === token ? row : undefined;
  }

  /** The same, if it was written a moment ago. */
  fresh(runId: string, token: string): RunRow | undefined {
    const at = this.#rows.get(runId)?.at ?? 0;
    return Date.now() - at < FRESH_MS ? this.row(runId, token) : undefined;
  }

  /** The answer to a write, which may come later than that of a read which has seen what followed it. */
  wrote(row: RunRow): void {
    if (isBehind(placeOf(row), this.#newest.get(row.id))) return;
    this.#note(row);
    this.#rows.set(row.id, { row, at: Date.now() });
  }

  /** Called with every row that leaves the store. */
  saw(row: RunRow): void {
    const mirror = this.#rows.get(row.id);
    if (mirror && (row.seq > mirror.row.seq || row.claim.token !== mirror.row.claim.token))
      this.#rows.delete(row.id);
    if (!isBehind(placeOf(row), this.#newest.get(row.id))) this.#note(row);
  }

  #note(row: RunRow): void {
    keepRecent(this.#newest, row.id, placeOf(row), MOST_SEEN);
  }

  forget(runId: string): void {
    this.#rows.delete(runId);
  }

  /** The run is gone, and another one may get its id. */
  erased(runId: string): void {
    this.#rows.delete(runId);
    this.#newest.delete(runId);
  }
}
