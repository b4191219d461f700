import type {
  DueQuery,
  QueuePart,
  RunCount,
  RunFilter,
  RunPage,
  RunQuery,
} from "../../core/store/contract.ts";
import { checkQuery, cursorAfter, isOfPlaces } from "../../core/store/query.ts";
import type { Queryable, Value } from "./queryable.ts";
import { rowOf, toRow } from "./rows.ts";
import { type Bind, CLOCK, type Statement, statement } from "./statement.ts";

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
  const { status, limit } = query;
  return statement((bind) => {
    const needs = [
      ...(status ? [isOfPlaces(query) ? "run.status = 'running'" : "run.status = wanted.status"] : []),
      ...needsOf(query, bind),
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

/** The number of runs by status and workflow. */
export function countStatement(at: string, query: RunFilter): Statement {
  checkQuery({ ...query, limit: 1 });
  const { status } = query;
  return statement((bind) => {
    const among = status ? [`run.status = ANY (${bind([...status], "text[]")})`] : [];
    const needs = [...among, ...needsOf(query, bind)];
    const where = needs.length === 0 ? "" : `WHERE ${needs.join(" AND ")}`;
    return `SELECT run.status, run.workflow, count(*) FROM ${at}runs AS run ${where} GROUP BY 1, 2`;
  });
}

export const toCount = ([status, workflow, count]: readonly Value[]): RunCount => ({
  status: status as RunCount["status"],
  workflow: workflow as string,
  count: Number(count),
});

/** The conditions on everything but the status. */
function needsOf(query: RunFilter, bind: Bind): string[] {
  const { workflow, parent, pruned } = query;
  return [
    ...(workflow === undefined ? [] : [`run.workflow = ${bind(workflow, "text")}`]),
    ...(parent === undefined ? [] : [`run.parent_run = ${bind(parent, "text")}`]),
    ...tagNeeds(query, bind),
    ...(pruned === undefined ? [] : [`run.pruned_at IS ${pruned ? "NOT " : ""}NULL`]),
  ];
}

/** The conditions on tags and age, as their indexes need them. */
function tagNeeds(query: RunFilter, bind: Bind): string[] {
  const { name, queue, key, labels = {}, createdAfter, createdBefore } = query;
  const equal = Object.entries({ name, queue, run_key: key }).flatMap(([column, value]) =>
    value === undefined ? [] : [`run.${column} = ${bind(value, "text")}`],
  );
  const time = (at: number): string => bind(at, "double precision");
  return [
    ...equal,
    ...(Object.keys(labels).length === 0
      ? []
      : [`run.labels <> '{}'::jsonb AND run.labels @> ${bind(JSON.stringify(labels), "jsonb")}`]),
    ...(createdAfter === undefined ? [] : [`run.created_at >= ${time(createdAfter)}`]),
    ...(createdBefore === undefined ? [] : [`run.created_at < ${time(createdBefore)}`]),
  ];
}

/**
 * Runs that may be claimed, from the highest priority down. Each priority has its own order in the index, so they are
 * found one by one. As a subquery, the time is evaluated once and the index can be searched for it.
 */
export function dueStatement(at: string, { workflows, limit, without = [] }: DueQuery): Statement {
  return statement((bind) => {
    const now = `(SELECT ${CLOCK})`;
    const most = bind(limit, "bigint");
    const highest = `SELECT max(priority) FROM ${at}runs WHERE wake_at IS NOT NULL`;
    return `WITH RECURSIVE levels AS (
  SELECT (${highest}) AS priority
  UNION ALL SELECT (${highest} AND priority < levels.priority) FROM levels WHERE levels.priority IS NOT NULL
)
SELECT ${rowOf("run")} FROM levels CROSS JOIN LATERAL (
  SELECT * FROM ${at}runs AS one WHERE one.priority = levels.priority AND one.wake_at <= ${now}
    AND one.claim_until <= ${now} AND one.workflow = ANY (${bind(workflows, "text[]")})${without.length === 0 ? "" : leftOut(without, bind)}
  ORDER BY one.wake_at, one.id LIMIT ${most}
) AS run ORDER BY run.priority DESC, run.wake_at, run.id LIMIT ${most}`;
  });
}

/** Leaves out whole queues, keys and labels. */
function leftOut(without: readonly QueuePart[], bind: Bind): string {
  const whole = without.filter(({ key, label }) => key === undefined && label === undefined);
  const keys = without.filter(({ key }) => key !== undefined);
  const labels = without.flatMap(({ queue, label }) =>
    label ? [{ queue, name: label[0], value: label[1] }] : [],
  );
  const texts = (values: readonly (string | undefined)[]): string => bind(values, "text[]");
  const needs = [
    ...(whole.length === 0 ? [] : [`one.queue <> ALL (${texts(whole.map(({ queue }) => queue))})`]),
    ...(keys.length === 0
      ? []
      : [
          `(one.queue, coalesce(one.run_key, '')) NOT IN (SELECT * FROM unnest(${texts(keys.map(({ queue }) => queue))},
        ${texts(keys.map(({ key }) => key))}))`,
        ]),
    ...(labels.length === 0
      ? []
      : [
          `NOT EXISTS (SELECT 1 FROM unnest(${texts(labels.map(({ queue }) => queue))},
        ${texts(labels.map(({ name }) => name))}, ${texts(labels.map(({ value }) => value))}) AS part (queue, name, value)
        WHERE part.queue = one.queue AND coalesce(one.labels ->> part.name, '') = part.value)`,
        ]),
  ];
  return ` AND (one.status = 'running' OR one.queue IS NULL OR (${needs.join(" AND ")}))`;
}

/** The bytes of all tables and indexes of the store's schema. */
export async function schemaSize(one: Queryable, at: string): Promise<number> {
  const place = "(SELECT relnamespace FROM pg_class WHERE oid = to_regclass($1))";
  const [row] = await one.query(
    `SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::text FROM pg_class WHERE relkind = 'r' AND relnamespace = ${place}`,
    [`${at}runs`],
  );
  return Number(row?.[0] ?? 0);
}
