import { HoldfastError } from "../../core/errors.ts";
import type { RunQuery } from "../../core/store.ts";
import type { RunRow } from "../../core/types.ts";

const FILTERS: readonly string[] = ["status", "workflow", "parent", "cursor", "limit"];
const MOST_RUNS = 1000;

type Position = readonly [createdAt: number, id: string];

/** Refuses what it does not know, so that a mistyped filter never widens the answer. */
export function checkQuery(query: RunQuery): void {
  for (const key of Object.keys(query))
    if (!FILTERS.includes(key)) throw invalid(key, "there is no such filter");
  checkLimit(query.limit, MOST_RUNS);
}

export function checkLimit(limit: number, most = Number.MAX_SAFE_INTEGER): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > most)
    throw invalid("limit", `it must be 1 to ${most}`);
}

export const writeCursor = ({ createdAt, id }: RunRow): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString("base64url");

export function readCursor(cursor: string): Position {
  try {
    const [createdAt, id, ...rest] = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Number.isFinite(createdAt) && typeof id === "string" && rest.length === 0) return [createdAt, id];
  } catch {
    // Refused below, like any other text that list() did not make.
  }
  throw invalid("cursor", "it was not made by list");
}

/** Newest first; ids decide between runs of the same millisecond. */
export const byAge = (a: RunRow, b: RunRow): number => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);

const invalid = (option: string, problem: string) => new HoldfastError("HF-1003", { option, problem });
