import { badOption, checkKeys, checkNumber, checkWhole, keysOf } from "../check-options.ts";
import { checkNamed } from "../names.ts";
import { checkLabels } from "../tags.ts";
import { type Mutable, RUN_STATUSES, type RunRow } from "../types.ts";
import type { DueQuery, QueuePart, RunCount, RunFilter, RunPage, RunQuery, Store } from "./contract.ts";
import { DELETED_RUNS } from "./deleted.ts";

/** Rules shared by every store's `list` and `due`: the filters, the order of runs, and paging. */
const FILTERS = keysOf<RunQuery>({
  status: true,
  workflow: true,
  parent: true,
  name: true,
  labels: true,
  queue: true,
  key: true,
  createdAfter: true,
  createdBefore: true,
  pruned: true,
  cursor: true,
  limit: true,
});
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
  if (query.labels !== undefined) checkLabels(query.labels);
  for (const name of ["createdAfter", "createdBefore"] as const)
    if (query[name] !== undefined) checkNumber(name, query[name], {});
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
export const matches = (row: RunRow, query: RunQuery): boolean => {
  const { status, workflow, parent, pruned, createdAfter, createdBefore, labels = {} } = query;
  return (
    (status?.includes(row.status) ?? true) &&
    (workflow === undefined || row.workflow === workflow) &&
    (pruned === undefined || (row.prunedAt !== null) === pruned) &&
    (parent === undefined || row.parent?.runId === parent) &&
    (["name", "queue", "key"] as const).every((tag) => query[tag] === undefined || row[tag] === query[tag]) &&
    (createdAfter === undefined || row.createdAt >= createdAfter) &&
    (createdBefore === undefined || row.createdAt < createdBefore) &&
    Object.entries(labels).every(
      ([label, value]) => Object.hasOwn(row.labels, label) && row.labels[label] === value,
    )
  );
};

/** True when a query asks for the runs that hold the places of a queue: few, however many stand in it. */
export const isOfPlaces = ({ queue, status, labels = {} }: RunFilter): boolean =>
  queue !== undefined && status?.length === 1 && status[0] === "running" && Object.keys(labels).length === 0;

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

/** The number of matching runs in memory. */
export function countRows(rows: Iterable<RunRow>, query: RunFilter): RunCount[] {
  const all = { ...query, limit: 1 };
  checkQuery(all);
  const counts = new Map<string, Mutable<RunCount>>();
  for (const row of rows) {
    if (!matches(row, all)) continue;
    const { status, workflow } = row;
    const key = `${status} ${workflow}`;
    const known = counts.get(key);
    if (known) known.count++;
    else counts.set(key, { status, workflow, count: 1 });
  }
  return [...counts.values()];
}

/** The order of due runs: the most urgent first, then the longest due; ids decide between equals. */
export const byUrgency = (a: RunRow, b: RunRow): number =>
  b.priority - a.priority || wakeOf(a) - wakeOf(b) || (a.id < b.id ? -1 : 1);

const wakeOf = (row: RunRow): number => row.wakeAt ?? Number.POSITIVE_INFINITY;

/** True when a query for due runs leaves this one out. */
export const isLeftOut = (row: RunRow, { without = [] }: DueQuery): boolean =>
  row.status !== "running" && without.some((part) => isPart(row, part));

/** True when a run belongs to this part of a queue. */
export function isPart({ queue, key, labels }: RunRow, part: QueuePart): boolean {
  const [label, value] = part.label ?? [];
  return (
    queue === part.queue &&
    (part.key === undefined || (key ?? "") === part.key) &&
    (label === undefined || (Object.hasOwn(labels, label) ? labels[label] : "") === value)
  );
}

/** The runs in memory that may be claimed at this time, the most urgent first. */
export function dueRows(rows: Iterable<RunRow>, query: DueQuery, time: number): RunRow[] {
  const { workflows, limit } = query;
  checkLimit(limit);
  return [...rows]
    .filter((row) => wakeOf(row) <= time && row.claim.until <= time && workflows.includes(row.workflow))
    .filter((row) => !isLeftOut(row, query))
    .sort(byUrgency)
    .slice(0, limit);
}
