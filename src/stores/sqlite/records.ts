import {
  COLUMNS,
  type RecordRow,
  type RecordTable,
  risingTime,
  type StoredRecord,
  timeColumn,
} from "../../core/records.ts";
import type { SqlValue } from "../../core/sql.ts";
import type { Drop } from "../../core/store/contract.ts";
import type { Connection } from "./connection.ts";

/** The tables that this store writes, and the columns by which their times rise. */
const GROUPS = {
  agent_checkpoints: ["analysis_id", "agent_type"],
  workflow_checkpoints: ["workflow_id"],
  checkpoints: ["id"],
} as const;

type Table = keyof typeof GROUPS;

export const TABLES: readonly Table[] = ["agent_checkpoints", "workflow_checkpoints", "checkpoints"];

const isTable = (table: RecordTable): table is Table => Object.hasOwn(GROUPS, table);

const NUMBER = "SELECT n FROM runs WHERE id = ?";
const OF_RUN = `SELECT key FROM record_keys WHERE run = (${NUMBER}) AND name = ?
  AND seq IN (SELECT value FROM json_each(?))`;

const namesOf = (table: Table): string[] => Object.keys(COLUMNS[table]);

const SQL = Object.fromEntries(
  TABLES.map((table) => {
    const names = namesOf(table);
    const group = GROUPS[table].map((name) => `${name} = ?`).join(" AND ");
    const again = names.includes("id") ? names.map((name) => `${name} = excluded.${name}`) : [];
    return [
      table,
      {
        last: `SELECT max(${timeColumn(table)}) FROM ${table} WHERE ${group}`,
        insert: `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})
          ${again.length > 0 ? `ON CONFLICT (id) DO UPDATE SET ${again.join(", ")}` : ""} RETURNING id`,
        read: `SELECT keys.seq, ${names.map((name) => `one.${name}`).join(", ")} FROM record_keys AS keys
          JOIN ${table} AS one ON one.id = keys.key WHERE keys.run = (${NUMBER}) AND keys.name = '${table}'`,
        remove: `DELETE FROM ${table} WHERE id IN (${OF_RUN})`,
      },
    ];
  }),
) as Readonly<Record<Table, Readonly<Record<"last" | "insert" | "read" | "remove", string>>>>;

const KEEP = `INSERT INTO record_keys (run, seq, name, key) VALUES ((${NUMBER}), ?, ?, ?)
  ON CONFLICT (name, key) DO UPDATE SET run = excluded.run, seq = excluded.seq`;
const FORGET = `DELETE FROM record_keys WHERE run = (${NUMBER}) AND seq IN (SELECT value FROM json_each(?))`;
const ARCHIVED = ["id", ...namesOf("agent_checkpoints"), "created_at"].join(", ");
const ARCHIVE = `INSERT OR REPLACE INTO agent_checkpoints_archive (${ARCHIVED})
  SELECT ${ARCHIVED} FROM agent_checkpoints WHERE id IN (${OF_RUN})`;

/** Writes the records of an accepted append, inside its transaction. */
export function writeRecords(connection: Connection, runId: string, records: readonly StoredRecord[]): void {
  for (const { table, seq, row } of records) {
    if (!isTable(table)) continue;
    const [[last] = []] = connection
      .prepare(SQL[table].last)
      .all(...GROUPS[table].map((name) => text(row[name])));
    const column = timeColumn(table);
    const placed = { ...row, [column]: risingTime(text(row[column]), last === null ? null : text(last)) };
    const [[id] = []] = connection.prepare(SQL[table].insert).all(...toValues(table, placed));
    connection.prepare(KEEP).run(runId, seq, table, id ?? null);
  }
}

/** Deletes records of a run, or moves those of agents to the archive. */
export function dropRecords(connection: Connection, runId: string, { records = [], archive }: Drop): void {
  if (records.length === 0) return;
  const seqs = JSON.stringify(records);
  if (archive) connection.prepare(ARCHIVE).run(runId, "agent_checkpoints", seqs);
  for (const table of TABLES) connection.prepare(SQL[table].remove).run(runId, table, seqs);
  connection.prepare(FORGET).run(runId, seqs);
}

export function readRecords(connection: Connection, runId: string): StoredRecord[] {
  const found = TABLES.flatMap((table) =>
    connection
      .prepare(SQL[table].read)
      .all(runId)
      .map(([seq, ...values]) => ({ table, seq: Number(seq), row: toRow(table, values) })),
  );
  return found.sort((a, b) => a.seq - b.seq);
}

const text = (value: unknown): string => String(value);

const isJson = (kind: string): boolean => kind === "json" || kind === "names";

const toValues = (table: Table, row: RecordRow): SqlValue[] =>
  Object.entries(COLUMNS[table]).map(([name, { kind }]) => {
    const value = row[name] ?? null;
    if (value === null) return null;
    return isJson(kind) ? JSON.stringify(value) : typeof value === "number" ? value : text(value);
  });

const toRow = (table: Table, values: readonly SqlValue[]): RecordRow =>
  Object.fromEntries(
    Object.entries(COLUMNS[table]).map(([name, { kind }], index) => {
      const value = values[index] ?? null;
      return [name, value !== null && isJson(kind) ? (JSON.parse(text(value)) as unknown) : value];
    }),
  );
