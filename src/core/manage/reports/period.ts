import { badOption } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { headsOf } from "../../journal/read.ts";
import type { Entry, Store } from "../../store/contract.ts";
import { everyRun } from "../../store/query.ts";
import type { RunRow } from "../../types.ts";

/** Which runs, and which time, a report is about. */
export interface ReportQuery {
  /** Epoch milliseconds; from then on. Default: from the beginning. */
  readonly since?: number;
  /** Up to and not including then. Default: up to now. */
  readonly until?: number;
  readonly workflow?: string;
}

export interface Period {
  readonly since: number;
  readonly until: number;
}

export const isWithin = ({ since, until }: Period, at: number): boolean => at >= since && at < until;

/** The period that is asked for, on the store's clock. */
export async function readPeriod(store: Store, { since, until }: ReportQuery): Promise<Period> {
  // What happens in this very millisecond belongs to it.
  const period = { since: since ?? 0, until: until ?? (await store.now()) + 1 };
  if (Number.isFinite(period.since) && Number.isFinite(period.until) && period.since < period.until)
    return period;
  throw badOption("since", "it must be a time before the period ends, which is now unless it is said");
}

/** Runs that something may have happened to in the period, newest first. */
export async function* runsIn(
  store: Store,
  { workflow }: ReportQuery,
  { since, until }: Period,
): AsyncGenerator<RunRow> {
  for await (const row of everyRun(store, defined({ workflow })))
    if (row.updatedAt >= since && row.createdAt < until) yield row;
}

/** One entry of a run's journal without its values. */
export interface Link {
  readonly entry: Entry;
  readonly events: readonly JournalEvent[];
  /** A fork begins with a copy of its source's journal: what happened there did not happen in this run. */
  readonly isCopied: boolean;
}

export async function* linksOf(store: Store, row: RunRow): AsyncGenerator<Link> {
  const copied = row.origin?.seq ?? 0;
  for await (const { entry, events } of headsOf(store, row.id, 1, row.seq))
    yield { entry, events, isCopied: entry.seq <= copied };
}
