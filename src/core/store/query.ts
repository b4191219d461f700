import { badOption, checkKeys, checkWhole } from "../check-options.ts";
import { checkNamed } from "../names.ts";
import { RUN_STATUSES, type RunRow } from "../types.ts";
import type { DueQuery, RunPage, RunQuery, Store } from "./contract.ts";
import { DELETED_RUNS } from "./deleted.ts";

/** Rules shared by every store's `list` and `due`: the filters, the order of runs, and paging. */
const FILTERS: readonly string[] = ["status", "workflow", "parent", "pruned", "cursor", "limit"];
const MOST_RUNS = 1000;
const PAGE = 200;

/** All matching runs, newest first, page by page on demand; `first` is the size of the first page. */
export async function* everyRun(
  store: Pick<Store, "list">,
  query: Omit<RunQuery, "limit" | "cursor"> = {},
  first = PAGE,
): AsyncGenerator<RunRow> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.list(
      cursor === undefined ? { ...query, limit: first } : { ...query, limit: PAGE, cursor },
    );
    yield* page.runs.filter(({ id }) => id !== DELETED_RUNS);
    cursor = page.cursor;
  }
}

export interface PagePosition {
  readonly createdAt: number;
  readonly id: string;
}

/** Refuses an unknown filter, so that a misspelled one never widens the result. Returns where the page starts. */
export function checkQuery(query: RunQuery): PagePosition | null {
  checkKeys(query, FILTERS, undefined, "filter");
  checkLimit(query.limit, MOST_RUNS);
  checkStatuses(query.status);
  if (query.workflow) checkNamed("workflow", query.workflow);
  if (query.cursor === undefined) return null;
  const [, createdAt, id] = /^(\d{1,16})\.([\w-]{1,64})$/.exec(query.cursor) ?? [];
  if (createdAt === undefined || id === undefined) throw badOption("cursor", "it was not made by list");
  return { createdAt: Number(createdAt), id };
}

function checkStatuses(statuses: unknown): void {
  if (statuses === undefined) return;
  if (!Array.isArray(statuses)) throw badOption("status", "it must be a list");
  const unknown: unknown = statuses.find((one) => !RUN_STATUSES.includes(one));
  if (unknown !== undefined)
    throw badOption("status", `there is no ${JSON.stringify(unknown)}; there are ${RUN_STATUSES.join(", ")}`);
}

export function checkLimit(limit: number, most?: number): void {
  checkWhole("limit", limit, 1, most);
}

/** The start of the page after this run. */
export const cursorAfter = ({ createdAt, id }: RunRow): string => `${createdAt}.${id}`;

/** Newest first; ids decide between runs of the same millisecond. */
export const byAge = (a: PagePosition, b: PagePosition): number =>
  b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);

/** True when a run matches the query. */
export const matches = (row: RunRow, { status, workflow, parent, pruned }: RunQuery): boolean =>
  (status?.includes(row.status) ?? true) &&
  (workflow === undefined || row.workflow === workflow) &&
  (pruned === undefined || (row.prunedAt !== null) === pruned) &&
  (parent === undefined || row.parent?.runId === parent);

/** One page of the matching runs in memory. */
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

/** The runs in memory that may be claimed at this time, longest due first. */
export function dueRows(rows: Iterable<RunRow>, { workflows, limit }: DueQuery, time: number): RunRow[] {
  checkLimit(limit);
  const wake = (row: RunRow): number => row.wakeAt ?? Number.POSITIVE_INFINITY;
  return [...rows]
    .filter((row) => wake(row) <= time && row.claim.until <= time && workflows.includes(row.workflow))
    .sort((a, b) => wake(a) - wake(b) || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}
