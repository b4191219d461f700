import { badOption, checkKeys, checkText, checkWhole } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import { checkId } from "../../ids.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { readRow } from "../../journal/positions.ts";
import { headsOf } from "../../journal/read.ts";
import { isUnreadable } from "../../journal/unreadable.ts";
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
  /** Only this run and those that it started. */
  readonly run?: string;
  /** The most runs to look at, newest first. Default: all. */
  readonly runs?: number;
}

/** How many runs a report is about. */
export interface LookedAt {
  readonly looked: number;
  /** True when there are more runs than were looked at. */
  readonly more: boolean;
  /** Runs whose journal can't be read. The report says nothing about them; `verify` does. */
  readonly unreadable: readonly string[];
}

export class Looked {
  runs = 0;
  more = false;
  readonly #unreadable: string[] = [];

  get told(): LookedAt {
    return { looked: this.runs, more: this.more, unreadable: this.#unreadable };
  }

  /** Looks at one run. A damaged one is named, and the report goes on with the others. */
  async at(runId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#unreadable.push(runId);
    }
  }
}

export interface Period {
  readonly since: number;
  readonly until: number;
}

export const isWithin = ({ since, until }: Period, at: number): boolean => at >= since && at < until;

/** The requested period, on the store's clock. */
export async function readPeriod(store: Store, query: ReportQuery): Promise<Period> {
  checkKeys(query, ["since", "until", "workflow", "run", "runs"]);
  const { since, until, workflow, run, runs } = query;
  if (runs !== undefined) checkWhole("runs", runs);
  if (workflow !== undefined) checkText("workflow", workflow);
  if (run !== undefined) checkId(run);
  // Includes events of this very millisecond.
  const period = { since: since ?? 0, until: until ?? (await store.now()) + 1 };
  if (Number.isFinite(period.since) && Number.isFinite(period.until) && period.since < period.until)
    return period;
  throw badOption("since", "it must be a time before the end of the period (default: now)");
}

/** Runs that may have events in the period, newest first. */
export async function* runsIn(
  store: Store,
  { workflow, run, runs = Infinity }: ReportQuery,
  { since, until }: Period,
  looked = new Looked(),
): AsyncGenerator<RunRow> {
  const found = run === undefined ? everyRun(store, defined({ workflow })) : familyOf(store, run);
  for await (const row of found) {
    if (row.updatedAt < since || row.createdAt >= until) continue;
    looked.more = looked.runs === runs;
    if (looked.more) return;
    looked.runs++;
    yield row;
  }
}

/** A run and those below it, each before its children. */
async function* familyOf(store: Store, runId: string): AsyncGenerator<RunRow> {
  const left = [await readRow(store, runId)];
  for (let row = left.shift(); row; row = left.shift()) {
    yield row;
    for await (const child of everyRun(store, { parent: row.id })) left.push(child);
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
