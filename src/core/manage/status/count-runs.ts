import { checkFunction, checkObject } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import type { RunCount, RunFilter, Store } from "../../store/contract.ts";
import { DELETED_RUNS } from "../../store/deleted.ts";
import { countRows, everyRun } from "../../store/query.ts";
import { RUN_STATUSES, type Run, type RunRow, type RunStatus } from "../../types.ts";

export interface CountQuery extends RunFilter {
  /** Only runs for which it returns true. Rows are read for it. */
  readonly where?: (run: Run) => boolean;
}

/** How many runs match, by status and by workflow. */
export interface RunCounts {
  readonly total: number;
  readonly byStatus: Readonly<Record<RunStatus, number>>;
  readonly byWorkflow: Readonly<Record<string, number>>;
  /** The same for each workflow and status together; none is 0. */
  readonly each: readonly RunCount[];
  /** True when there are more runs than were looked at, so that the numbers are too low. */
  readonly more: boolean;
}

/** The most rows that are read where the store can't count. */
const MOST_ROWS = 10_000;

export async function countRuns(store: Store, query: CountQuery): Promise<RunCounts> {
  checkObject("query", query);
  const { where, ...filters } = defined(query);
  if (where !== undefined) checkFunction("where", where);
  if (where || !store.count) return scanned(store, filters, where ?? (() => true));
  const found = await store.count(filters);
  return summed(
    found.filter(({ workflow }) => workflow !== DELETED_RUNS),
    false,
  );
}

async function scanned(store: Store, query: RunFilter, where: (run: Run) => boolean): Promise<RunCounts> {
  const rows: RunRow[] = [];
  let seen = 0;
  for await (const row of everyRun(store, query)) {
    if (seen++ === MOST_ROWS) return summed(countRows(rows, {}), true);
    if (where(row)) rows.push(row);
  }
  return summed(countRows(rows, {}), false);
}

function summed(found: readonly RunCount[], more: boolean): RunCounts {
  const byStatus = Object.fromEntries(RUN_STATUSES.map((status) => [status, 0])) as Record<RunStatus, number>;
  const byWorkflow = new Map<string, number>();
  let total = 0;
  for (const { status, workflow, count } of found) {
    total += count;
    byStatus[status] += count;
    byWorkflow.set(workflow, (byWorkflow.get(workflow) ?? 0) + count);
  }
  return { total, byStatus, byWorkflow: Object.fromEntries(byWorkflow), each: found, more };
}
