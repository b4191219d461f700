import { byAge, checkLimit, checkQuery, cursorAfter } from "../../core/query.ts";
import type { DueQuery, RunPage, RunQuery } from "../../core/store.ts";
import type { RunRow } from "../../core/types.ts";

/** One page of the runs that match. */
export function listRows(rows: Iterable<RunRow>, query: RunQuery): RunPage {
  const after = checkQuery(query);
  const found = [...rows]
    .filter((row) => matches(row, query))
    .filter((row) => after === null || (row.id !== after.id && byAge(after, row) < 0))
    .sort(byAge);
  const runs = found.slice(0, query.limit);
  const last = found.length > runs.length ? runs.at(-1) : undefined;
  return { runs, cursor: last ? cursorAfter(last) : null };
}

/** Runs that may be claimed at this time, longest due first. */
export function dueRows(rows: Iterable<RunRow>, { workflows, limit }: DueQuery, time: number): RunRow[] {
  checkLimit(limit);
  const wake = (row: RunRow): number => row.wakeAt ?? Number.POSITIVE_INFINITY;
  return [...rows]
    .filter((row) => wake(row) <= time && row.claim.until <= time && workflows.includes(row.workflow))
    .sort((a, b) => wake(a) - wake(b) || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

const matches = (row: RunRow, { status, workflow, parent, pruned }: RunQuery): boolean =>
  (status?.includes(row.status) ?? true) &&
  (workflow === undefined || row.workflow === workflow) &&
  (pruned === undefined || (row.prunedAt !== null) === pruned) &&
  (parent === undefined || row.parent?.runId === parent);
