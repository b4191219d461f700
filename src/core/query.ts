import { HoldfastError } from "./errors.ts";
import type { RunQuery } from "./store.ts";
import type { RunRow } from "./types.ts";

/** What every store's `list` and `due` agree on: which filters there are, in what order runs come, how pages go on. */
const FILTERS: readonly string[] = ["status", "workflow", "parent", "pruned", "cursor", "limit"];
const MOST_RUNS = 1000;

export interface PagePosition {
  readonly createdAt: number;
  readonly id: string;
}

/** Refuses what it does not know, so that a mistyped filter never widens the answer. Gives where the page starts. */
export function checkQuery(query: RunQuery): PagePosition | null {
  for (const key of Object.keys(query))
    if (!FILTERS.includes(key)) throw invalid(key, "there is no such filter");
  checkLimit(query.limit, MOST_RUNS);
  if (query.cursor === undefined) return null;
  const [, createdAt, id] = /^(\d{1,16})\.([\w-]{1,64})$/.exec(query.cursor) ?? [];
  if (createdAt === undefined || id === undefined) throw invalid("cursor", "it was not made by list");
  return { createdAt: Number(createdAt), id };
}

export function checkLimit(limit: number, most = Number.MAX_SAFE_INTEGER): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > most)
    throw invalid("limit", `it must be 1 to ${most}`);
}

/** Where the page after the one that ends with this run starts. */
export const cursorAfter = ({ createdAt, id }: RunRow): string => `${createdAt}.${id}`;

/** Newest first; ids decide between runs of the same millisecond. */
export const byAge = (a: PagePosition, b: PagePosition): number =>
  b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);

const invalid = (option: string, problem: string) => new HoldfastError("HF-1003", { option, problem });
