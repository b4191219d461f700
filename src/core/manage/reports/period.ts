import { badOption, checkKeys, checkText, checkWhole } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { headsOf } from "../../journal/read.ts";
import type { Entry, Store } from "../../store/contract.ts";
import { everyRun } from "../../store/query.ts";
import type { RunRow } from "../../types.ts";

/** The runs and the time that a report covers. */
export interface ReportQuery {
  /** Start of the period in epoch milliseconds, inclusive. Default: the beginning. */
  readonly since?: number;
  /** End of the period, exclusive. Default: now. */
  readonly until?: number;
  readonly workflow?: string;
  /** The most runs to look at, newest first. Default: all. */
  readonly runs?: number;
}

/** How many runs a report is about. */
export interface LookedAt {
  readonly looked: number;
  /** True when there are more runs than were looked at. */
  readonly more: boolean;
}

export class Looked {
  runs = 0;
  more = false;

  get told(): LookedAt {
    return { looked: this.runs, more: this.more };
  }
}

export interface Period {
  readonly since: number;
  readonly until: number;
}

export const isWithin = ({ since, until }: Period, at: number): boolean => at >= since && at < until;

/** The requested period, on the store's clock. */
export async function readPeriod(store: Store, query: ReportQuery): Promise<Period> {
  checkKeys(query, ["since", "until", "workflow", "runs"]);
  const { since, until, workflow, runs } = query;
  if (runs !== undefined) checkWhole("runs", runs);
  if (workflow !== undefined) checkText("workflow", workflow);
  // Includes events of this very millisecond.
  const period = { since: since ?? 0, until: until ?? (await store.now()) + 1 };
  if (Number.isFinite(period.since) && Number.isFinite(period.until) && period.since < period.until)
    return period;
  throw badOption("since", "it must be a time before the end of the period (default: now)");
}

/** Runs that may have events in the period, newest first. */
export async function* runsIn(
  store: Store,
  { workflow, runs = Infinity }: ReportQuery,
  { since, until }: Period,
  looked = new Looked(),
): AsyncGenerator<RunRow> {
  for await (const row of everyRun(store, defined({ workflow }))) {
    if (row.updatedAt < since || row.createdAt >= until) continue;
    looked.more = looked.runs === runs;
    if (looked.more) return;
    looked.runs++;
    yield row;
  }
}

/** One entry of a run's journal without its values. */
export interface Link {
  readonly entry: Entry;
  readonly events: readonly JournalEvent[];
  /** A fork begins with a copy of its source's journal: those events didn't happen in this run. */
  readonly isCopied: boolean;
}

export async function* linksOf(store: Store, row: RunRow): AsyncGenerator<Link> {
  const copied = row.origin?.seq ?? 0;
  for await (const { entry, events } of headsOf(store, row.id, 1, row.seq))
    yield { entry, events, isCopied: entry.seq <= copied };
}
