import type { SqlValue } from "../../core/sql.ts";
import type {
  DueQuery,
  QueuePart,
  RunCount,
  RunFilter,
  RunPage,
  RunQuery,
} from "../../core/store/contract.ts";
import { byAge, checkQuery, cursorAfter, isOfPlaces } from "../../core/store/query.ts";
import type { RunRow } from "../../core/types.ts";
import type { Connection } from "./connection.ts";
import { toRow } from "./rows.ts";
import { ROW, SQL } from "./statements.ts";

type Column = "status" | "workflow" | "parent_run" | "name" | "queue" | "run_key" | "(pruned_at IS NOT NULL)";

interface Filter {
  readonly column: Column;
  readonly value: SqlValue;
}

/** A condition, or a statement, with its values. */
interface Condition {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** What a list is read from, in order of age: an index, or the runs with a label. */
interface Source {
  readonly from: string;
  readonly table: "runs" | "label";
  readonly conditions: readonly Condition[];
}

/** One page of runs. */
export function listRuns(connection: Connection, query: RunQuery): RunPage {
  const { limit } = query;
  const found = listStatements(query).flatMap(({ text, values }) =>
    connection
      .prepare(text)
      .all(...values)
      .map(toRow),
  );
  const runs = found.sort(byAge).slice(0, limit);
  const last = found.length > limit ? runs.at(-1) : undefined;
  return { runs, cursor: last ? cursorAfter(last) : null };
}

/**
 * An index has runs in order of age for one status, with or without values, so each combination is queried separately;
 * a query for all of them would have to sort everything.
 */
export function listStatements(query: RunQuery): Condition[] {
  const start = checkQuery(query);
  const { status, pruned, limit } = query;
  const given = named(query);
  // These name few runs, and they are in order either way.
  const isNarrow = given.some(({ column }) => NARROW.has(column)) || hasLabels(query);
  const statuses = alternatives("status", isNarrow ? undefined : status && [...new Set(status)]);
  const prunings = alternatives(
    "(pruned_at IS NOT NULL)",
    pruned === undefined ? (isNarrow ? undefined : [0, 1]) : [pruned ? 1 : 0],
  );
  const among = isNarrow && status ? [amongStatuses(status)] : [];
  const page = (filters: readonly Filter[]): Condition => {
    const { from, table, conditions } = sourceOf(filters, query);
    const all = [...conditions, ...filters.map(equal), ...among, ...ages(query, start, table)];
    const where = all.length === 0 ? "" : `WHERE ${all.map(({ text }) => text).join(" AND ")}`;
    const text = `SELECT ${ROW_OF_RUNS} FROM ${from} ${where}
    ORDER BY ${table}.created_at DESC, ${table}.id DESC LIMIT ?`;
    return { text, values: [...all.flatMap(({ values }) => values), limit + 1] };
  };
  return statuses.flatMap((one) => prunings.map((other) => page([...one, ...given, ...other])));
}

/** The filters of single columns. */
function named({ workflow, parent, name, queue, key }: RunFilter): Filter[] {
  const wanted = { workflow, parent_run: parent, name, queue, run_key: key };
  return Object.entries(wanted).flatMap(([column, value]): Filter[] =>
    value === undefined ? [] : [{ column: column as Column, value }],
  );
}

/** The number of runs by status and workflow: SQLite counts the entries of an index. */
export function countRuns(connection: Connection, query: RunFilter): RunCount[] {
  checkQuery({ ...query, limit: 1 });
  const { status, pruned } = query;
  const labelled = hasLabels(query) ? sourceOf([], query) : undefined;
  const filters: Filter[] = [
    ...named(query),
    ...(pruned === undefined ? [] : [{ column: "(pruned_at IS NOT NULL)" as const, value: pruned ? 1 : 0 }]),
  ];
  const all = [
    ...(labelled?.conditions ?? []),
    ...filters.map(equal),
    ...(status ? [amongStatuses(status)] : []),
    ...ages(query, null, labelled?.table ?? "runs"),
  ];
  const where = all.length === 0 ? "" : `WHERE ${all.map(({ text }) => text).join(" AND ")}`;
  const text = `SELECT runs.status, runs.workflow, count(*) FROM ${labelled?.from ?? "runs"} ${where} GROUP BY 1, 2`;
  const found = connection.prepare(text).all(...all.flatMap(({ values }) => values));
  return (found as [RunCount["status"], string, number][]).map(([one, workflow, count]) => ({
    status: one,
    workflow,
    count,
  }));
}

const ROW_OF_RUNS = ROW.split(", ")
  .map((column) => `runs.${column}`)
  .join(", ");

const NARROW: ReadonlySet<Column> = new Set<Column>(["parent_run", "name", "queue", "run_key"]);

const hasLabels = ({ labels = {} }: RunFilter): boolean => Object.keys(labels).length > 0;

/** The values to query one by one, or no filter. */
const alternatives = (column: Column, values: readonly SqlValue[] | undefined): Filter[][] =>
  values ? values.map((value) => [{ column, value }]) : [[]];

const equal = ({ column, value }: Filter): Condition => ({
  text: column.startsWith("(") ? "(runs.pruned_at IS NOT NULL) = ?" : `runs.${column} = ?`,
  values: [value],
});

const amongStatuses = (status: readonly string[]): Condition => ({
  text: "runs.status IN (SELECT value FROM json_each(?))",
  values: [JSON.stringify(status)],
});

function ages(
  { createdAfter, createdBefore }: RunFilter,
  start: ReturnType<typeof checkQuery>,
  table: Source["table"],
): Condition[] {
  return [
    ...(createdAfter === undefined ? [] : [{ text: `${table}.created_at >= ?`, values: [createdAfter] }]),
    ...(createdBefore === undefined ? [] : [{ text: `${table}.created_at < ?`, values: [createdBefore] }]),
    ...(start
      ? [{ text: `(${table}.created_at, ${table}.id) < (?, ?)`, values: [start.createdAt, start.id] }]
      : []),
  ];
}

/** Names its index, so that SQLite never sorts. */
function sourceOf(filters: readonly Filter[], query: RunFilter): Source {
  // Of a queue, which may have any number of runs, only those that hold its places: few, so they may be sorted.
  if (isOfPlaces(query)) return PLACES;
  const { labels = {} } = query;
  const [first, ...others] = Object.entries(labels);
  const columns = filters.map(({ column }) => column);
  if (!first) return { from: `runs INDEXED BY ${indexFor(columns)}`, table: "runs", conditions: [] };
  const also = others.map((label) => ({
    text: `EXISTS (SELECT 1 FROM run_labels AS other WHERE other.name = ? AND other.value = ?
      AND other.created_at = label.created_at AND other.id = label.id)`,
    values: label,
  }));
  return {
    from: "run_labels AS label CROSS JOIN runs ON runs.n = label.run",
    table: "label",
    conditions: [{ text: "label.name = ? AND label.value = ?", values: first }, ...also],
  };
}

const PLACES: Source = {
  from: "runs INDEXED BY runs_running",
  table: "runs",
  conditions: [{ text: "runs.status = 'running'", values: [] }],
};

function indexFor(columns: readonly Column[]): string {
  const [byStatus, byWorkflow] = [columns.includes("status"), columns.includes("workflow")];
  if (columns.includes("parent_run")) return "runs_by_parent";
  if (columns.includes("run_key")) return "runs_by_key";
  if (columns.includes("name")) return "runs_by_name";
  if (columns.includes("queue")) return "runs_by_queue";
  if (byStatus && byWorkflow) return "runs_by_status_and_workflow";
  if (byStatus) return "runs_by_status";
  return byWorkflow ? "runs_by_workflow" : "runs_by_age";
}

/** Runs that may be claimed, from the highest priority down. There are few priorities, and each has its own order. */
export function dueRuns(connection: Connection, now: number, query: DueQuery): RunRow[] {
  const { workflows, limit, without = [] } = query;
  const due = connection.prepare(without.length === 0 ? SQL.due : SQL.dueWithout);
  const names = JSON.stringify(workflows);
  const parts = without.length === 0 ? [] : leftOut(without);
  const found: RunRow[] = [];
  for (let priority = below(connection, Number.MAX_SAFE_INTEGER); priority !== null; ) {
    found.push(...due.all(priority, now, now, names, ...parts, limit - found.length).map(toRow));
    if (found.length >= limit) break;
    priority = below(connection, priority);
  }
  return found;
}

/** The parts of each kind: whole queues, keys and labels. */
function leftOut(without: readonly QueuePart[]): readonly string[] {
  const whole = without.filter(({ key, label }) => key === undefined && label === undefined);
  const keys = without.flatMap(({ queue, key }) => (key === undefined ? [] : [[queue, key]]));
  const labels = without.flatMap(({ queue, label }) => (label === undefined ? [] : [[queue, ...label]]));
  return [whole.map(({ queue }) => [queue]), keys, labels].map((parts) => JSON.stringify(parts));
}

function below(connection: Connection, priority: number): number | null {
  const [[lower] = []] = connection.prepare(SQL.lower).all(priority);
  return lower === null || lower === undefined ? null : Number(lower);
}

/** The bytes of the file, without what isn't in it yet. */
export function databaseSize(connection: Connection): number {
  const one = (pragma: string): number => Number(connection.prepare(`PRAGMA ${pragma}`).all()[0]?.[0] ?? 0);
  return one("page_count") * one("page_size");
}
