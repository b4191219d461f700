import {
  badOption,
  checkFlag,
  checkFunction,
  checkKeys,
  checkObject,
  checkText,
  keysOf,
} from "../../check-options.ts";
import { defined } from "../../defined.ts";
import { isRunId } from "../../ids.ts";
import { listed } from "../../journal/door.ts";
import type { RunPage, RunQuery, Store } from "../../store/contract.ts";
import { DELETED_RUNS } from "../../store/deleted.ts";
import { cursorAfter, matches } from "../../store/query.ts";
import { checkLabels } from "../../tags.ts";
import { RUN_STATUSES, type Run, type RunRow, type RunStatus } from "../../types.ts";
import { groupOf } from "../reports/error-groups.ts";
import { standingOf } from "./standing.ts";

/** The runs to list; see {@link RunQuery}. The filters of this page are looked up in rows, not in an index. */
export interface RunSearch extends Omit<RunQuery, "limit"> {
  /** The most runs to return. Default 100. */
  readonly limit?: number;
  /**
   * Only runs that have this text in their name, workflow, key, values of labels, or in what went wrong, or whose id
   * begins with it. The run of exactly this id comes first.
   */
  readonly text?: string;
  /** Only failed runs of this group, by its id; see `engine.reports.errors`. */
  readonly errorGroup?: string;
  /** Leaves these runs out. */
  readonly not?: Excluded;
  /** Only runs that don't continue unless a person does something; `false`: only the others. */
  readonly needsYou?: boolean;
  /** Only runs for which it returns true. */
  readonly where?: (run: Run) => boolean;
}

/** Runs to leave out: one of these is enough. */
export interface Excluded {
  readonly status?: readonly RunStatus[];
  readonly workflow?: readonly string[];
  readonly queue?: readonly string[];
  /** A run with any of these labels, with this value. */
  readonly labels?: Readonly<Record<string, string>>;
}

const LIST_LIMIT = 100;
/** The most rows that one page looks at. Its cursor goes on from there, also when the page has few runs or none. */
const MOST_ROWS = 1_500;
const ROWS = 250;
const MOST_TEXT = 200;

/** Statuses in which a run may need a person. */
const UNENDED: readonly RunStatus[] = ["queued", "running", "waiting", "failed"];

/** Stored runs, newest first, one page at a time; every filter must match. */
export async function findRuns(store: Store, query: RunSearch): Promise<RunPage> {
  checkObject("query", query);
  const { text, errorGroup, not, needsYou, where, limit = LIST_LIMIT, ...plain } = defined(query);
  checkSearch(query);
  const filters = narrowed(errorGroup === undefined ? plain : onlyFailed(plain), not, needsYou);
  if (filters === null) return { runs: [], cursor: null };
  const isScanned = [text, errorGroup, needsYou, where].some((one) => one !== undefined) || isAmongRows(not);
  if (!isScanned) {
    const page = await store.list({ ...filters, limit });
    return { ...page, runs: page.runs.map(listed) };
  }
  const isWanted = wantedBy(query, await store.now());
  const named =
    text === undefined || plain.cursor !== undefined ? null : await readNamed(store, text, filters);
  const first = named && isWanted(named) ? [named] : [];
  const isNew = (row: RunRow): boolean => row.id !== text;
  return scan(
    store,
    { ...filters, limit },
    first,
    (row) => (text === undefined || isNew(row)) && isWanted(row),
  );
}

/** Tells which rows a search wants, of those that fit the filters of the store. */
export const wantedBy =
  ({ text, errorGroup, not, needsYou, where }: RunSearch, now: number) =>
  (row: RunRow): boolean =>
    !isExcluded(row, not) &&
    (text === undefined || hasText(row, text)) &&
    (errorGroup === undefined || (row.status === "failed" && groupOf(row) === errorGroup)) &&
    (where?.(row) ?? true) &&
    (needsYou === undefined || standingOf(row, now).needsYou === needsYou);

async function scan(
  store: Store,
  { cursor: start, ...query }: RunQuery,
  first: readonly RunRow[],
  isWanted: (row: RunRow) => boolean,
): Promise<RunPage> {
  const runs = [...first];
  let cursor = start ?? null;
  for (let seen = 0; seen < MOST_ROWS && runs.length < query.limit; ) {
    const page = await store.list({ ...query, limit: ROWS, ...(cursor === null ? {} : { cursor }) });
    for (const row of page.runs.map(listed)) {
      if (!isWanted(row)) continue;
      runs.push(row);
      if (runs.length < query.limit) continue;
      return { runs, cursor: row.id === page.runs.at(-1)?.id ? page.cursor : cursorAfter(row) };
    }
    seen += page.runs.length;
    cursor = page.cursor;
    if (cursor === null) break;
  }
  return { runs, cursor };
}

/** The run whose id somebody has typed, wherever it is. */
async function readNamed(store: Store, text: string, filters: Partial<RunQuery>): Promise<RunRow | null> {
  const row = isRunId(text) && text !== DELETED_RUNS ? await store.read(text) : null;
  return row && matches(row, { ...filters, limit: 1 }) ? listed(row) : null;
}

/** The filters that the store knows; `null` when no run can match. */
export function narrowed<Q extends Partial<RunQuery>>(
  query: Q,
  not: Excluded | undefined,
  needsYou: boolean | undefined,
): Q | null {
  const among = query.status ?? (needsYou === true ? UNENDED : undefined);
  const left = not?.status ? (among ?? RUN_STATUSES).filter((one) => !not.status?.includes(one)) : among;
  if (left?.length === 0 && query.status?.length !== 0) return null;
  return left === undefined ? query : { ...query, status: left };
}

/** A group has failed runs only; a query for other ones has no answer. */
const onlyFailed = <Q extends Partial<RunQuery>>(query: Q): Q => ({
  ...query,
  status: (query.status ?? FAILED).filter((one) => one === "failed"),
});

const FAILED: readonly RunStatus[] = ["failed"];

const isAmongRows = (not: Excluded | undefined): boolean =>
  (not?.workflow ?? not?.queue ?? not?.labels) !== undefined;

const isExcluded = ({ workflow, queue, labels }: Run, not: Excluded | undefined): boolean =>
  not !== undefined &&
  ((not.workflow?.includes(workflow) ?? false) ||
    (queue !== null && (not.queue?.includes(queue) ?? false)) ||
    Object.entries(not.labels ?? {}).some(
      ([name, value]) => Object.hasOwn(labels, name) && labels[name] === value,
    ));

/** True when a run has this text in what a person calls it, or in what went wrong. */
export function hasText(row: Run, text: string): boolean {
  const wanted = text.toLowerCase();
  const { id, name, workflow, key, labels, error, waiting } = row;
  if (id.toLowerCase().startsWith(wanted)) return true;
  const said = [name, workflow, key, error, ...Object.values(labels), ...waiting.map(({ detail }) => detail)];
  return said.some((one) => one?.toLowerCase().includes(wanted));
}

const EXCLUDED = keysOf<Excluded>({ status: true, workflow: true, queue: true, labels: true });

function checkSearch({ text, errorGroup, not, needsYou, where }: RunSearch): void {
  if (text !== undefined) checkText("text", text, 1, MOST_TEXT);
  if (errorGroup !== undefined) checkText("errorGroup", errorGroup, 1, MOST_TEXT);
  if (where !== undefined) checkFunction("where", where);
  checkFlag("needsYou", needsYou);
  if (not === undefined) return;
  checkKeys(not, EXCLUDED, "not");
  for (const name of ["status", "workflow", "queue"] as const)
    if (not[name] !== undefined && !Array.isArray(not[name]))
      throw badOption(`not.${name}`, "it must be a list");
  if (not.labels !== undefined) checkLabels(not.labels);
}
