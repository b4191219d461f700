import {
  COLUMNS,
  type ColumnKind,
  type RecordRow,
  type StoredRecord,
  timeColumn,
} from "../../core/records.ts";
import type { Append } from "../../core/store/contract.ts";
import type { Queryable } from "./queryable.ts";
import type { Bind } from "./statement.ts";

/** The tables that this store writes, and the columns by which their times rise. */
const GROUPS = {
  agent_checkpoints: ["analysis_id", "agent_type"],
  workflow_checkpoints: ["workflow_id"],
} as const;

type Table = keyof typeof GROUPS;

export const TABLES: readonly Table[] = ["agent_checkpoints", "workflow_checkpoints"];

/** JSON travels as text, and so do times. */
const INPUT_TYPES: Readonly<Record<ColumnKind, string>> = {
  name: "text",
  names: "text[]",
  text: "text",
  uuid: "uuid",
  time: "text",
  percent: "numeric",
  whole: "integer",
  flag: "boolean",
  json: "text",
};

const columnsOf = (table: Table): [string, ColumnKind][] =>
  Object.entries(COLUMNS[table]).map(([name, { kind }]) => [name, kind]);

/** Escapes for which PostgreSQL has no character become U+FFFD; pairs of surrogates are never escaped. */
const storable = (json: string): string =>
  json.replace(/\\(u0000|ud[89a-f][0-9a-f]{2}|.)/gi, (whole, code: string) =>
    code.length > 1 ? "\\ufffd" : whole,
  );

/**
 * The parts of a statement that write the records of accepted appends. `taken` has the index of each of them and the
 * number of its run.
 */
export function recordsAdded(at: string, batch: readonly Append[], bind: Bind): string[] {
  const all = batch.flatMap(({ records = [] }, i) => records.map((record) => ({ i, record })));
  return TABLES.flatMap((table) => {
    const own = all.filter(({ record }) => record.table === table);
    return own.length === 0 ? [] : added(at, table, distinct(table, own), bind);
  });
}

interface Indexed {
  readonly i: number;
  readonly record: StoredRecord;
}

/** One statement writes a row once: of records with the same id the last one counts. */
const distinct = (table: Table, records: readonly Indexed[]): readonly Indexed[] =>
  table === "agent_checkpoints"
    ? records
    : [...new Map(records.map((one) => [one.record.row["id"], one])).values()];

function added(at: string, table: Table, records: readonly Indexed[], bind: Bind): string[] {
  const columns = columnsOf(table);
  const names = columns.map(([name]) => name).filter((name) => name !== "id");
  const isAgent = table === "agent_checkpoints";
  const id = isAgent ? `nextval('${at}agent_checkpoints_id_seq'::regclass)::integer` : "record.id";
  const rows = records.map(({ i, record }) => ({ i, seq: record.seq, ...toInput(columns, record.row) }));
  const types = columns.map(([name, kind]) => `${name} ${INPUT_TYPES[kind]}`).join(", ");
  const input = `${table}_in AS MATERIALIZED (
  SELECT taken.n, record.seq, ${id} AS id, ${names.map((name) => valueOf(at, table, name)).join(", ")}
  FROM json_to_recordset(${bind(storable(JSON.stringify(rows)), "json")}) AS record (i integer, seq bigint, ${types})
  JOIN taken ON taken.i = record.i
)`;
  const listed = ["id", ...names].join(", ");
  const again = names.map((name) => `${name} = excluded.${name}`).join(", ");
  const written = `${table}_out AS (
  INSERT INTO ${at}${table} (${listed}${isAgent ? ", created_at" : ""})
  SELECT ${listed}${isAgent ? ", clock_timestamp() AT TIME ZONE 'UTC'" : ""} FROM ${table}_in
  ${isAgent ? "" : `ON CONFLICT (id) DO UPDATE SET ${again}`}
)`;
  const keys = `${table}_keys AS (
  INSERT INTO ${at}record_keys (run, seq, name, key) SELECT n, seq, '${table}', id::text FROM ${table}_in
  ON CONFLICT (name, key) DO UPDATE SET run = excluded.run, seq = excluded.seq
)`;
  return [input, written, keys];
}

function valueOf(at: string, table: Table, name: string): string {
  const kind = COLUMNS[table][name]?.kind;
  if (kind === "json") return `record.${name}::jsonb AS ${name}`;
  return kind === "time" ? `${risingTime(at, table)} AS ${name}` : `record.${name}`;
}

/** After the newest time of its agent or workflow, and after the others in the same statement. */
function risingTime(at: string, table: Table): string {
  const column = timeColumn(table);
  const given = `record.${column}::timestamptz${table === "agent_checkpoints" ? " AT TIME ZONE 'UTC'" : ""}`;
  const group = GROUPS[table];
  const same = group.map((name) => `known.${name} = record.${name}`).join(" AND ");
  const order = `PARTITION BY ${group.map((name) => `record.${name}`).join(", ")} ORDER BY ${given}, record.i, record.seq`;
  return `greatest(${given}, (
      SELECT max(known.${column}) + interval '1 microsecond' FROM ${at}${table} AS known WHERE ${same}
    )) + (row_number() OVER (${order}) - 1) * interval '1 microsecond'`;
}

const toInput = (columns: readonly [string, ColumnKind][], row: RecordRow): object =>
  Object.fromEntries(
    columns.map(([name, kind]) => {
      const value = row[name] ?? null;
      return [name, kind === "json" && value !== null ? storable(JSON.stringify(value)) : value];
    }),
  );

/** Stands for every position of a run that is erased. */
const ALL = null;

/** The parts of a statement that delete records of accepted appends, or move those of agents to the archive. */
export function recordsDropped(at: string, batch: readonly Append[], bind: Bind): string[] {
  const gone = batch.flatMap(({ drop, claim }, i) => {
    const seqs = claim.kind === "erase" ? [ALL] : (drop?.records ?? []);
    return seqs.map((seq) => ({ i, seq, archive: drop?.archive === true }));
  });
  if (gone.length === 0) return [];
  const list = bind(JSON.stringify(gone), "json");
  const archived = ["id", ...Object.keys(COLUMNS.agent_checkpoints), "created_at"].join(", ");
  return [
    `records_gone AS (
  DELETE FROM ${at}record_keys AS kept
  USING json_to_recordset(${list}) AS gone (i integer, seq bigint, archive boolean) JOIN taken ON taken.i = gone.i
  WHERE kept.run = taken.n AND (kept.seq = gone.seq OR gone.seq IS NULL) RETURNING kept.name, kept.key, gone.archive
)`,
    `agents_gone AS (
  DELETE FROM ${at}agent_checkpoints AS one USING records_gone AS gone
  WHERE gone.name = 'agent_checkpoints' AND one.id = gone.key::integer RETURNING one.*, gone.archive
)`,
    `agents_archived AS (
  INSERT INTO ${at}agent_checkpoints_archive (${archived}) SELECT ${archived} FROM agents_gone WHERE archive
  ON CONFLICT (id) DO NOTHING
)`,
    `workflows_gone AS (
  DELETE FROM ${at}workflow_checkpoints AS one USING records_gone AS gone
  WHERE gone.name = 'workflow_checkpoints' AND one.id = gone.key
)`,
  ];
}

const ISO = `'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'`;

/** The records of a run, in order of position. */
export async function readRecords(one: Queryable, at: string, runId: string): Promise<StoredRecord[]> {
  const found: StoredRecord[] = [];
  for (const table of TABLES) {
    const columns = columnsOf(table);
    const text = `SELECT kept.seq, ${columns.map(([name, kind]) => shown(table, name, kind)).join(", ")}
      FROM ${at}runs AS run JOIN ${at}record_keys AS kept ON kept.run = run.n AND kept.name = '${table}'
      JOIN ${at}${table} AS one ON one.id::text = kept.key WHERE run.id = $1`;
    for (const [seq, ...values] of await one.query(text, [runId]))
      found.push({ table, seq: Number(seq), row: toRow(columns, values as (string | null)[]) });
  }
  return found.sort((a, b) => a.seq - b.seq);
}

/** Everything as text, so that no driver's own conversion matters. */
function shown(table: Table, name: string, kind: ColumnKind): string {
  if (kind === "names") return `array_to_json(one.${name})::text`;
  if (kind !== "time") return `one.${name}::text`;
  return table === "agent_checkpoints"
    ? `to_char(one.${name}, ${ISO})`
    : `to_char(one.${name} AT TIME ZONE 'UTC', ${ISO})`;
}

const PARSED: readonly ColumnKind[] = ["names", "json", "percent", "whole", "flag"];

const toRow = (columns: readonly [string, ColumnKind][], values: readonly (string | null)[]): RecordRow =>
  Object.fromEntries(
    columns.map(([name, kind], index) => {
      const value = values[index] ?? null;
      return [name, value !== null && PARSED.includes(kind) ? (JSON.parse(value) as unknown) : value];
    }),
  );
