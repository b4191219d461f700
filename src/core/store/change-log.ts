import { type Change, type ChangeQuery, type Changes, MOST_BEHIND } from "./changes.ts";
import { checkLimit } from "./query.ts";

/** The positions of a store whose writes have numbers that rise in the order in which they become visible. */
export interface Numbered {
  readonly number: number;
  readonly change: Omit<Change, "position">;
}

/** A position in the order of numbers. `tag` names the history that they count in. */
const positionOf = (tag: string, number: number): string => `${tag}.${number.toString(36)}`;

/** The number in a position; `null` when it belongs to another history. */
function numberIn(tag: string, position: string): number | null {
  const [own, text = "", ...rest] = position.split(".");
  return own === tag && rest.length === 0 && /^[0-9a-z]{1,10}$/.test(text) ? Number.parseInt(text, 36) : null;
}

interface Reading {
  readonly tag: string;
  /** The highest number given so far. */
  readonly last: number;
  /** The changes with numbers above `from` and up to `to`, in order; or only the newest of each run. */
  readonly between: (from: number, to: number, limit: number, isNewest: boolean) => readonly Numbered[];
}

/** Answers a question for changes from a list of numbered ones. */
export function changesFrom(query: ChangeQuery, reading: Reading): Changes {
  const { after, isAgain = false, isNewest = false, upTo, limit } = query;
  checkLimit(limit);
  const { tag, last, between } = reading;
  const now = positionOf(tag, last);
  if (after === null) return { changes: [], position: now, hasMore: false };
  const from = numberIn(tag, after);
  const to = upTo === undefined ? last : numberIn(tag, upTo);
  const isKnown = from !== null && to !== null && from <= last;
  if (!isKnown || (upTo !== undefined && to - from > MOST_BEHIND))
    return { changes: null, position: now, hasMore: false };
  const found = between(isAgain ? from - 1 : from, to, limit + 1, isNewest);
  const changes = found
    .slice(0, limit)
    .map(({ number, change }) => ({ ...change, position: positionOf(tag, number) }));
  const hasMore = found.length > limit;
  const position = hasMore ? changes.at(-1)?.position : positionOf(tag, Math.max(to, from));
  return { changes, position: position ?? now, hasMore };
}
