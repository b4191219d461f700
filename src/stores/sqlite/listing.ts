import type { SqlValue } from "../../core/sql.ts";
import type { RunPage, RunQuery } from "../../core/store/contract.ts";
import { byAge, checkQuery, cursorAfter } from "../../core/store/query.ts";
import type { RunRow } from "../../core/types.ts";
import type { Connection } from "./connection.ts";
import { toRow } from "./rows.ts";
import { ROW } from "./statements.ts";

interface Filter {
  readonly column: "status" | "workflow" | "parent_run" | "(pruned_at IS NOT NULL)";
  readonly value: SqlValue;
}

/**
 * One page of runs. An index has runs in order of age for one status, with or without values, so each combination is
 * queried separately; a query for all of them would have to sort everything.
 */
export function listRuns(connection: Connection, query: RunQuery): RunPage {
  const start = checkQuery(query);
  const { status, workflow, parent, pruned, limit } = query;
  const after = start ? [start.createdAt, start.id] : [];
  const given: Filter[] = [
    ...(workflow === undefined ? [] : [{ column: "workflow", value: workflow } as const]),
    ...(parent === undefined ? [] : [{ column: "parent_run", value: parent } as const]),
  ];
  const statuses = alternatives("status", status && [...new Set(status)]);
  // A run has few children, and they are in order either way.
  const prunings = alternatives(
    "(pruned_at IS NOT NULL)",
    pruned === undefined ? (parent === undefined ? [0, 1] : undefined) : [pruned ? 1 : 0],
  );
  const page = (filters: readonly Filter[]): RunRow[] => {
    const columns = filters.map(({ column }) => column);
    const statement = connection.prepare(listSql(columns, after.length > 0));
    return statement.all(...filters.map(({ value }) => value), ...after, limit + 1).map(toRow);
  };
  const found = statuses.flatMap((one) => prunings.flatMap((other) => page([...one, ...given, ...other])));
  const runs = found.sort(byAge).slice(0, limit);
  const last = found.length > limit ? runs.at(-1) : undefined;
  return { runs, cursor: last ? cursorAfter(last) : null };
}

/** The values to query one by one, or no filter. */
const alternatives = (column: Filter["column"], values: readonly SqlValue[] | undefined): Filter[][] =>
  values ? values.map((value) => [{ column, value }]) : [[]];

/** Each combination of filters has its own text and names its index, so that SQLite never sorts. */
export function listSql(columns: readonly Filter["column"][], isContinued: boolean): string {
  const conditions = columns.map((column) => `${column} = ?`);
  if (isContinued) conditions.push("(created_at, id) < (?, ?)");
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  return `SELECT ${ROW} FROM runs INDEXED BY ${indexFor(columns)} ${where}
    ORDER BY created_at DESC, id DESC LIMIT ?`;
}

function indexFor(columns: readonly Filter["column"][]): string {
  const [byStatus, byWorkflow] = [columns.includes("status"), columns.includes("workflow")];
  if (columns.includes("parent_run")) return "runs_by_parent";
  if (byStatus && byWorkflow) return "runs_by_status_and_workflow";
  if (byStatus) return "runs_by_status";
  return byWorkflow ? "runs_by_workflow" : "runs_by_age";
}
