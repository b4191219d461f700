import type { AnswerOf } from "../../api/client.ts";

export type RunItem = AnswerOf<"listRuns">["runs"][number];
type Page = AnswerOf<"listRuns">;
type Ask = (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page>;

/** Where a run stands in the list: newest first, and ids decide between runs of the same millisecond. */
type Position = Pick<RunItem, "createdAt" | "id">;

/** True when `a` is further down the list than `b`. */
const isBelow = (a: Position, b: Position): boolean =>
  a.createdAt === b.createdAt ? a.id < b.id : a.createdAt < b.createdAt;

/** What is shown. A new object for each change. */
export interface Shown {
  readonly rows: readonly RunItem[];
  /** Runs that began since the list was opened. They wait until somebody asks for them, so that no row jumps. */
  readonly newer: readonly RunItem[];
  readonly isLoading: boolean;
  /** True when there is nothing further down. */
  readonly isWhole: boolean;
  readonly error: unknown;
}

const FIRST = 100;
const PAGE = 200;
const EMPTY: Shown = { rows: [], newer: [], isLoading: true, isWhole: false, error: null };

/** Where a page begins: its cursor, and the last run above it. */
interface Start {
  readonly cursor: string | undefined;
  readonly after: Position | null;
}

/**
 * A long list of runs, read page by page. Pages that are looked at are read again when something has happened; each
 * answer replaces exactly the part of the list that it covers.
 */
export class RunList {
  readonly #ask: Ask;
  readonly #watchers = new Set<() => void>();
  #starts: Start[] = [{ cursor: undefined, after: null }];
  #next: string | null | undefined;
  #loading: Promise<void> | null = null;
  #isRefreshing = false;
  #generation = 0;
  #shown = EMPTY;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  };

  readonly shown = (): Shown => this.#shown;

  /** Reads the first page, or the one below what is there. */
  loadMore(): Promise<void> {
    if (this.#next === null) return Promise.resolve();
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    const generation = this.#generation;
    const isFirst = this.#next === undefined;
    const cursor = this.#next ?? undefined;
    const after = this.#shown.rows.at(-1) ?? null;
    this.#show({ isLoading: true, error: null });
    try {
      const page = await this.#ask({
        limit: isFirst ? FIRST : PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      });
      if (generation !== this.#generation) return;
      if (!isFirst) this.#starts.push({ cursor, after });
      this.#next = page.cursor;
      const known = new Set(this.#shown.rows.map(({ id }) => id));
      const rows = [...this.#shown.rows, ...page.runs.filter(({ id }) => !known.has(id))];
      this.#show({ rows, isLoading: false, isWhole: page.cursor === null });
    } catch (error) {
      if (generation === this.#generation) this.#show({ isLoading: false, error });
    }
  }

  /** Reads again what is between two rows. */
  async refresh(first: number, last: number): Promise<void> {
    if (this.#next === undefined || this.#isRefreshing) return;
    this.#isRefreshing = true;
    const generation = this.#generation;
    try {
      for (const { cursor, after } of this.#startsOf(first, last)) {
        const page = await this.#ask({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
        if (generation !== this.#generation) return;
        this.#merge(page, after);
      }
      this.#show({ error: null });
    } catch (error) {
      this.#show({ error });
    } finally {
      this.#isRefreshing = false;
    }
  }

  /** Begins again at the top, with the runs that have waited. What is shown stays until the answer is there. */
  async reload(): Promise<void> {
    this.#generation++;
    this.#loading = null;
    const generation = this.#generation;
    try {
      const page = await this.#ask({ limit: FIRST });
      if (generation !== this.#generation) return;
      this.#starts = [{ cursor: undefined, after: null }];
      this.#next = page.cursor;
      this.#show({
        rows: page.runs,
        newer: [],
        isLoading: false,
        isWhole: page.cursor === null,
        error: null,
      });
    } catch (error) {
      this.#show({ error });
    }
  }

  #startsOf(first: number, last: number): Start[] {
    const { rows } = this.#shown;
    const top = rows[first];
    const bottom = rows[Math.min(last, rows.length - 1)];
    if (!top || !bottom) return this.#starts.slice(0, 1);
    const begins = this.#starts.findLastIndex(({ after }) => after === null || isBelow(top, after));
    const ends = this.#starts.findLastIndex(({ after }) => after === null || isBelow(bottom, after));
    return this.#starts.slice(Math.max(0, begins), ends + 1);
  }

  #merge({ runs, cursor }: Page, after: Position | null): void {
    const { rows, newer } = this.#shown;
    const [top] = rows;
    const waits = after === null && top ? runs.filter((run) => isBelow(top, run)) : [];
    const waiting = new Set(waits.map(({ id }) => id));
    const answer = runs.filter(({ id }) => !waiting.has(id));
    const end = cursor === null ? null : (answer.at(-1) ?? null);
    if (cursor !== null && end === null) return;
    const merged = merge(rows, answer, after, end);
    // The rows above are gone once they were cancelled or resumed, and no longer match.
    this.#show({ rows: merged, newer: after === null ? waits : newer });
  }

  #show(change: Partial<Shown>): void {
    this.#shown = { ...this.#shown, ...change };
    for (const watcher of this.#watchers) watcher();
  }
}

/**
 * Replaces the rows below `after`, down to `end` (`null`: down to the end), by an answer that covers this part. Rows that
 * are the same stay the same objects, so that they aren't drawn again.
 */
export function merge(
  rows: readonly RunItem[],
  answer: readonly RunItem[],
  after: Position | null,
  end: Position | null,
): readonly RunItem[] {
  const known = new Map(rows.map((row) => [row.id, row]));
  const fresh = new Set(answer.map(({ id }) => id));
  const others = rows.filter(({ id }) => !fresh.has(id));
  const above = after === null ? [] : others.filter((row) => !isBelow(row, after));
  const below = end === null ? [] : others.filter((row) => isBelow(row, end));
  const kept = answer.map((row) => {
    const before = known.get(row.id);
    return before && JSON.stringify(before) === JSON.stringify(row) ? before : row;
  });
  return [...above, ...kept, ...below];
}
