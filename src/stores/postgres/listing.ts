import type { RunPage, RunQuery } from "../../core/store/contract.ts";
import { checkQuery, cursorAfter } from "../../core/store/query.ts";
import type { Queryable } from "./queryable.ts";
import { rowOf, toRow } from "./rows.ts";
import { type Statement, statement } from "./statement.ts";

/** One page of runs, newest first. */
export async function listRuns(one: Queryable, at: string, query: RunQuery): Promise<RunPage> {
  const { text, values } = listStatement(at, query);
  const found = (await one.query(text, values)).map(toRow);
  const runs = found.slice(0, query.limit);
  const last = found.length > runs.length ? runs.at(-1) : undefined;
  return { runs, cursor: last ? cursorAfter(last) : null };
}

/**
 * An index has the runs of one status in order of age, so each status is queried separately; a query for all of them
 * would have to sort everything.
 */
export function listStatement(at: string, query: RunQuery): Statement {
  const after = checkQuery(query);
  const { status, workflow, parent, pruned, limit } = query;
  return statement((bind) => {
    const needs = [
      ...(status ? ["run.status = wanted.status"] : []),
      ...(workflow === undefined ? [] : [`run.workflow = ${bind(workflow, "text")}`]),
      ...(parent === undefined ? [] : [`run.parent_run = ${bind(parent, "text")}`]),
      ...(pruned === undefined ? [] : [`run.pruned_at IS ${pruned ? "NOT " : ""}NULL`]),
      ...(after
        ? [
            `(run.created_at, run.id) < (${bind(after.createdAt, "double precision")}, ${bind(after.id, "text")})`,
          ]
        : []),
    ];
    const where = needs.length === 0 ? "" : `WHERE ${needs.join(" AND ")}`;
    const order = (table: string): string => `ORDER BY ${table}.created_at DESC, ${table}.id DESC`;
    const most = bind(limit + 1, "bigint");
    const page = `SELECT * FROM ${at}runs AS run ${where} ${order("run")} LIMIT ${most}`;
    if (!status) return `SELECT ${rowOf("run")} FROM (${page}) AS run ${order("run")}`;
    return `SELECT ${rowOf("run")} FROM unnest(${bind([...new Set(status)], "text[]")}) AS wanted (status)
      CROSS JOIN LATERAL (${page}) AS run ${order("run")} LIMIT ${most}`;
  });
}
