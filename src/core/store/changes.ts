import type { RunIdentity } from "../types.ts";

/**
 * Finds what was written to a store since a position, by whichever process, at a cost that follows what was written and
 * not what the store holds. A position is a text of the store's own. It stands for everything that was visible at a
 * moment, so what lies between two positions is the same for every process that asks.
 */
export interface ChangeQuery {
  /** Answers what became visible after this. `null`: nothing, only where the store is now. */
  readonly after: string | null;
  /** True to begin with the change at `after` itself. */
  readonly isAgain?: boolean;
  /** Only what was visible at this position, and not from further back than `MOST_BEHIND`. Default: now. */
  readonly upTo?: string;
  /** True to leave out every change that a later one of the same run follows. */
  readonly isNewest?: boolean;
  /** The most changes to return. */
  readonly limit: number;
}

/** An entry that was written. Its values are not part of it: what happened is in its head. */
export interface Change {
  readonly run: RunIdentity;
  readonly entry: { readonly seq: number; readonly count: number; readonly head: string };
  /** Pass it as `after` to get what comes after this entry. */
  readonly position: string;
}

export interface Changes {
  /** Those of one run are in its order. `null`: the store can't tell what is after this position. */
  readonly changes: readonly Change[] | null;
  /** Pass it as `after` to go on. */
  readonly position: string;
  /** True when there is more already. */
  readonly hasMore: boolean;
}

/** A reader that is this many entries behind is better off reading its lists again. It bounds what one question costs. */
export const MOST_BEHIND = 20_000;
