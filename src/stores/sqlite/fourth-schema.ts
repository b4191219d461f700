import { HoldfastError } from "../../core/errors.ts";
import type { SqliteConnection } from "./driver.ts";

const AGENT_COLUMNS = `
    id INTEGER PRIMARY KEY,
    stock_ticker VARCHAR(10) NOT NULL,
    agent_type VARCHAR(50) NOT NULL,
    analysis_id TEXT NOT NULL,
    checkpoint_time TEXT NOT NULL,
    progress_pct DECIMAL(5,2),
    current_subtask VARCHAR(100),
    completed_subtasks TEXT,
    pending_subtasks TEXT,
    working_memory TEXT,
    interim_results TEXT,
    agent_config TEXT,
    failure_reason TEXT,
    error_details TEXT,
    retry_count INT DEFAULT 0,
    agent_version VARCHAR(20),
    created_at TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))`;

/** The tables and indexes of records, by name. Lists and JSON are texts here. */
const ITEMS: Readonly<Record<string, string>> = {
  agent_checkpoints: `CREATE TABLE agent_checkpoints (${AGENT_COLUMNS},
    UNIQUE (analysis_id, agent_type, checkpoint_time)
  )`,
  idx_stock_agent: "CREATE INDEX idx_stock_agent ON agent_checkpoints (stock_ticker, agent_type)",
  idx_analysis: "CREATE INDEX idx_analysis ON agent_checkpoints (analysis_id)",
  agent_checkpoints_archive: `CREATE TABLE agent_checkpoints_archive (${AGENT_COLUMNS}
  )`,
  workflow_checkpoints: `CREATE TABLE workflow_checkpoints (
    id TEXT PRIMARY KEY,
    workflow_id TEXT NOT NULL,
    timestamp TEXT,
    layer_index INTEGER NOT NULL,
    state TEXT NOT NULL,
    dag_structure TEXT NOT NULL,
    execution_config TEXT NOT NULL
  )`,
  idx_checkpoints_workflow:
    "CREATE INDEX idx_checkpoints_workflow ON workflow_checkpoints (workflow_id, timestamp DESC)",
  record_keys: `CREATE TABLE record_keys (
    run INTEGER NOT NULL, seq INTEGER NOT NULL, name TEXT NOT NULL, key NOT NULL,
    PRIMARY KEY (run, seq), UNIQUE (name, key)
  ) WITHOUT ROWID`,
};

/**
 * Schema version 4 adds the tables of records, and says which run and event each record belongs to. The file may also
 * hold tables of the application: one of these names that isn't ours stays as it is, and nothing is changed.
 */
export const addRecords = (db: SqliteConnection, file: string): void => addItems(db, file, ITEMS);

/** Makes tables and indexes by name; refuses when one of the names is taken. */
export function addItems(db: SqliteConnection, file: string, items: Readonly<Record<string, string>>): void {
  const taken = db
    .prepare("SELECT name FROM sqlite_schema WHERE name IN (SELECT value FROM json_each(?))")
    .all(JSON.stringify(Object.keys(items)));
  const [name] = taken[0] ?? [];
  if (name !== undefined) throw new HoldfastError("HF-3071", { place: file, name: String(name) });
  for (const text of Object.values(items)) db.exec(text);
}
