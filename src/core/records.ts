import { isRecord } from "./check-options.ts";
import { HoldfastError } from "./errors.ts";
import { isUuid } from "./ids.ts";
import { nameProblem } from "./names.ts";
import { didYouMean } from "./nearest.ts";

/**
 * Records: rows and files for people and programs that read a store with its own tools. A record is the projection of
 * one `checkpoint_marked` event and is written in the same append, so the two can't disagree. Nothing is ever restored
 * from a record alone: the journal is the truth.
 */

/** A row of the table `agent_checkpoints`. The store adds `id` and `created_at`. */
export interface AgentCheckpointRow {
  readonly stock_ticker: string;
  readonly agent_type: string;
  /** A UUID. */
  readonly analysis_id: string;
  /** An ISO time. Default: the time of the event. Stores move it by microseconds so that it always increases. */
  readonly checkpoint_time?: string;
  /** 0 to 100. */
  readonly progress_pct?: number | null;
  readonly current_subtask?: string | null;
  readonly completed_subtasks?: readonly string[] | null;
  readonly pending_subtasks?: readonly string[] | null;
  readonly working_memory?: unknown;
  readonly interim_results?: unknown;
  readonly agent_config?: unknown;
  readonly failure_reason?: string | null;
  readonly error_details?: unknown;
  readonly retry_count?: number;
  readonly agent_version?: string | null;
}

/** A row of the table `workflow_checkpoints`. */
export interface WorkflowCheckpointRow {
  readonly id: string;
  readonly workflow_id: string;
  /** An ISO time. Default: the time of the event. */
  readonly timestamp?: string;
  readonly layer_index: number;
  readonly state: unknown;
  readonly dag_structure: unknown;
  readonly execution_config: unknown;
}

/** The content of a file `checkpoint_phase{N}_{timestamp}.json`. */
export interface PhaseCheckpointRow {
  /** Default "1.0". */
  readonly version?: string;
  /** A UUID. */
  readonly checkpoint_id: string;
  readonly workflow_id: string;
  /** An ISO time. Default: the time of the event. */
  readonly timestamp?: string;
  readonly phase: number;
  readonly status: string;
  readonly trigger?: string | null;
  readonly resumable?: boolean | null;
  readonly agents: Readonly<Record<string, unknown>>;
  readonly decisions: readonly unknown[];
  readonly outputs?: unknown;
  readonly metrics: object;
  readonly confidence?: unknown;
  readonly state?: unknown;
  readonly error?: unknown;
}

/** A row of the table `checkpoints`: one for each run of a YAML workflow, as it stands. Only SQLite has it. */
export interface FlowCheckpointRow {
  readonly id: string;
  readonly workflow_name: string;
  readonly workflow_inputs: unknown;
  readonly current_agent: string;
  /** The agent under way; `null` when none is. */
  readonly in_progress?: string | null;
  readonly completed_agents: readonly string[];
  readonly agent_outputs: unknown;
  readonly context_snapshot: unknown;
  readonly iteration: number;
  /** An ISO time. */
  readonly created_at: string;
  /** An ISO time. Default: the time of the event. */
  readonly updated_at?: string;
}

/** A record for `ctx.checkpoint`: a table, and a row with the columns of that table. */
export type CheckpointRecord =
  | { readonly table: "agent_checkpoints"; readonly row: AgentCheckpointRow }
  | { readonly table: "workflow_checkpoints"; readonly row: WorkflowCheckpointRow }
  | { readonly table: "phase_checkpoints"; readonly row: PhaseCheckpointRow }
  | { readonly table: "checkpoints"; readonly row: FlowCheckpointRow };

export type RecordTable = CheckpointRecord["table"];

export const RECORD_TABLES: readonly RecordTable[] = [
  "agent_checkpoints",
  "workflow_checkpoints",
  "phase_checkpoints",
  "checkpoints",
];

/** What a column holds. `name` and `names` have a maximum length; `json` is any value, in the journal's own JSON. */
export type ColumnKind = "name" | "names" | "text" | "uuid" | "time" | "percent" | "whole" | "flag" | "json";

export interface Column {
  readonly kind: ColumnKind;
  readonly most?: number;
  readonly required?: true;
}

const required = true;
const json: Column = { kind: "json" };
const time: Column = { kind: "time" };

/** The columns that a caller sets, in the order of the table. */
export const COLUMNS: Readonly<Record<RecordTable, Readonly<Record<string, Column>>>> = {
  agent_checkpoints: {
    stock_ticker: { kind: "name", most: 10, required },
    agent_type: { kind: "name", most: 50, required },
    analysis_id: { kind: "uuid", required },
    checkpoint_time: time,
    progress_pct: { kind: "percent" },
    current_subtask: { kind: "name", most: 100 },
    completed_subtasks: { kind: "names", most: 100 },
    pending_subtasks: { kind: "names", most: 100 },
    working_memory: json,
    interim_results: json,
    agent_config: json,
    failure_reason: { kind: "text" },
    error_details: json,
    retry_count: { kind: "whole" },
    agent_version: { kind: "name", most: 20 },
  },
  workflow_checkpoints: {
    id: { kind: "name", most: 200, required },
    workflow_id: { kind: "name", most: 200, required },
    timestamp: time,
    layer_index: { kind: "whole", required },
    state: { kind: "json", required },
    dag_structure: { kind: "json", required },
    execution_config: { kind: "json", required },
  },
  phase_checkpoints: {
    version: { kind: "name", most: 20 },
    checkpoint_id: { kind: "uuid", required },
    workflow_id: { kind: "name", most: 200, required },
    timestamp: time,
    phase: { kind: "whole", required },
    status: { kind: "name", most: 50, required },
    trigger: { kind: "name", most: 50 },
    resumable: { kind: "flag" },
    agents: { kind: "json", required },
    decisions: { kind: "json", required },
    outputs: json,
    metrics: { kind: "json", required },
    confidence: json,
    state: json,
    error: json,
  },
  checkpoints: {
    id: { kind: "name", most: 200, required },
    workflow_name: { kind: "name", most: 200, required },
    workflow_inputs: { kind: "json", required },
    current_agent: { kind: "name", most: 200, required },
    in_progress: { kind: "name", most: 200 },
    completed_agents: { kind: "names", most: 200, required },
    agent_outputs: { kind: "json", required },
    context_snapshot: { kind: "json", required },
    iteration: { kind: "whole", required },
    created_at: { kind: "time", required },
    updated_at: time,
  },
};

const TIMES = {
  agent_checkpoints: "checkpoint_time",
  workflow_checkpoints: "timestamp",
  phase_checkpoints: "timestamp",
  checkpoints: "updated_at",
} as const satisfies Record<RecordTable, string>;

/** The column that holds the time of a record. */
export const timeColumn = (table: RecordTable): (typeof TIMES)[RecordTable] => TIMES[table];

/** A complete row: a value or null for every column of {@link COLUMNS}. */
export type RecordRow = Readonly<Record<string, unknown>>;

/** A record before its event has a position. */
export interface RecordDraft {
  readonly table: RecordTable;
  readonly row: RecordRow;
}

/** A record as stores get it. */
export interface StoredRecord extends RecordDraft {
  /** The position of its event. With the run's id it identifies the record. */
  readonly seq: number;
}

const refused = (table: string, column: string, problem: string): HoldfastError =>
  new HoldfastError("HF-3070", { table, column, problem });

/** The record with every column, checked against the limits of its table (HF-3070). */
export function checkRecord(record: unknown): RecordDraft {
  if (!isRecord(record)) throw refused("a table", "record", "must be an object with a table and a row");
  const { table: given, row }: { readonly table?: unknown; readonly row?: unknown } = record;
  const table = RECORD_TABLES.find((one) => one === given);
  if (table === undefined) {
    const problem = `must be ${RECORD_TABLES.slice(0, -1).join(", ")} or ${RECORD_TABLES.at(-1)}`;
    throw refused(String(given).slice(0, 80), "table", problem);
  }
  if (!isRecord(row)) throw refused(table, "row", "must be an object with the table's columns");
  return { table, row: checkRow(table, row) };
}

function checkRow(table: RecordTable, row: RecordRow): RecordRow {
  const columns = COLUMNS[table];
  const unknown = Object.keys(row).find((name) => !Object.hasOwn(columns, name));
  if (unknown !== undefined) {
    const likely = didYouMean(unknown, Object.keys(columns), " (did you mean ", "?)");
    throw refused(table, unknown.slice(0, 80), `is not a column of it${likely}`);
  }
  const complete: Record<string, unknown> = {};
  for (const [name, column] of Object.entries(columns)) {
    const value = row[name] ?? DEFAULTS[name] ?? null;
    const problem = value === null ? column.required && "is missing" : problemOf(column, value);
    if (problem) throw refused(table, name, problem);
    complete[name] = column.kind === "percent" && value !== null ? twoDecimals(value as number) : value;
  }
  return complete;
}

/** A percentage as `DECIMAL(5,2)` keeps it, in every store. */
export const twoDecimals = (percent: number): number => Math.round(100 * percent) / 100;

const DEFAULTS: Readonly<Record<string, unknown>> = { retry_count: 0, version: "1.0" };

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)$/;
const LARGEST_INT = 2_147_483_647;

function problemOf({ kind, most }: Column, value: unknown): string | undefined {
  switch (kind) {
    case "name":
      return inSentence(nameProblem(value, most));
    case "names": {
      if (!Array.isArray(value)) return "must be a list of texts";
      const bad = value.findIndex((one) => nameProblem(one, most) !== undefined);
      return bad < 0
        ? undefined
        : `has an entry, number ${bad + 1}, that is not valid: ${nameProblem(value[bad], most)}`;
    }
    case "text":
      return typeof value === "string" ? undefined : "must be a text";
    case "uuid":
      return isUuid(value) ? undefined : "must be a UUID";
    case "time":
      return isTime(value) ? undefined : "must be a time such as 2026-01-02T14:35:22Z";
    case "percent":
      return typeof value === "number" && value >= 0 && value <= 100 ? undefined : "must be from 0 to 100";
    case "whole": {
      const isWhole =
        Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= LARGEST_INT;
      return isWhole ? undefined : `must be a whole number from 0 to ${LARGEST_INT}`;
    }
    case "flag":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "json":
      return undefined;
  }
}

const inSentence = (problem: string | undefined): string | undefined =>
  problem === undefined ? undefined : `is not valid: ${problem}`;

const isTime = (value: unknown): boolean =>
  typeof value === "string" && ISO_TIME.test(value) && !Number.isNaN(Date.parse(value));

/** The record of an event, with its position and, unless the caller has set one, its time. */
export function placedRecord(
  { table, row }: RecordDraft,
  event: { readonly seq: number; readonly at: number },
): StoredRecord {
  const column = timeColumn(table);
  const at = row[column] ?? new Date(event.at).toISOString();
  return { table, seq: event.seq, row: { ...row, [column]: at } };
}

/** The given time with microseconds, moved so that it comes after `last`. These texts compare as times do. */
export function risingTime(given: string, last: string | null): string {
  const [micros, least] = [microsOf(given), last === null ? 0 : microsOf(last) + 1];
  return isoOf(Math.max(micros, least));
}

function microsOf(time: string): number {
  const fraction = /\.(\d{1,6})/.exec(time)?.[1] ?? "";
  return Date.parse(time) * 1000 + Number(fraction.padEnd(6, "0").slice(3));
}

const isoOf = (micros: number): string =>
  new Date(Math.floor(micros / 1000))
    .toISOString()
    .replace("Z", `${String(micros % 1000).padStart(3, "0")}Z`);
