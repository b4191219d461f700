import { damaged } from "../../core/journal/journal.ts";
import { damagedRow, unknownRow } from "../../core/journal/row-shape.ts";
import { keepRecent } from "../../core/recent.ts";
import type { RunRow } from "../../core/types.ts";
import type { Disk } from "../disk.ts";
import type { Layout } from "./layout.ts";
import type { RecordName } from "./names.ts";
import { recordNames } from "./run-folder.ts";

/** How many runs have the names of their records cached in memory. */
const MOST_LISTED = 256;

/** The current runs in memory, rebuilt from each run's newest record when the store is opened. */
export class Runs {
  readonly #disk: Disk;
  readonly #layout: Layout;
  readonly #rows = new Map<string, RunRow>();
  readonly #damaged = new Map<string, { readonly problem: string; readonly row: RunRow }>();
  /** Least recently used first. */
  readonly #names = new Map<string, RecordName[]>();

  constructor(disk: Disk, layout: Layout) {
    this.#disk = disk;
    this.#layout = layout;
  }

  rows(): Iterable<RunRow> {
    return this.#rows.values();
  }

  /** True when the run exists, readable or not. */
  has(id: string): boolean {
    return this.#rows.has(id) || this.#damaged.has(id);
  }

  /** Rows of the unreadable runs, for lists. */
  damaged(): RunRow[] {
    return [...this.#damaged.values()].map(({ row }) => row);
  }

  isDamaged(id: string): boolean {
    return this.#damaged.has(id);
  }

  /** Returns `undefined` when there is no such run, and throws HF-3010 when the run can't be read. */
  row(id: string): RunRow | undefined {
    const found = this.#damaged.get(id);
    if (!found) return this.#rows.get(id);
    throw damaged(id, found.row.seq || 1, found.problem);
  }

  /** `added`: records created since the last call. */
  set(row: RunRow, added: readonly RecordName[] = []): void {
    this.#damaged.delete(row.id);
    this.#rows.set(row.id, row);
    this.#names.get(row.id)?.push(...added.map(({ name, seq }) => ({ name, seq })));
  }

  /** `row` is the last known state. */
  setDamaged(id: string, problem: string, row = this.#rows.get(id)): void {
    const shown = row ? damagedRow(row, problem) : unknownRow(id, damaged(id, 1, problem));
    this.forget(id);
    this.#damaged.set(id, { problem, row: shown });
  }

  forget(id: string): void {
    this.#rows.delete(id);
    this.#names.delete(id);
    this.#damaged.delete(id);
  }

  /** The names of the run's records up to its current position, without those of a flush in progress. */
  async names(row: RunRow): Promise<readonly RecordName[]> {
    const known = this.#names.get(row.id);
    if (known) this.#names.delete(row.id);
    const names = known ?? (await this.#list(row));
    if (this.#rows.get(row.id) !== row) return names;
    keepRecent(this.#names, row.id, names, MOST_LISTED);
    return names;
  }

  async #list(row: RunRow): Promise<RecordName[]> {
    const { records } = await recordNames(this.#disk, this.#layout.run(row.id));
    return records.filter(({ seq }) => seq <= row.seq);
  }
}

/** The index in `names` of the record that holds a position, or of the first one after it. */
export function placeOf(names: readonly RecordName[], from: number): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle]?.seq ?? 0) <= from) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}
