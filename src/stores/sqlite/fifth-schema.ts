import type { SqliteConnection } from "./driver.ts";
import { addItems } from "./fourth-schema.ts";

/** Lists and JSON are texts, as the document defines them. */
const ITEMS: Readonly<Record<string, string>> = {
  checkpoints: `CREATE TABLE checkpoints (
    id TEXT PRIMARY KEY,
    workflow_name TEXT NOT NULL,
    workflow_inputs TEXT NOT NULL,
    current_agent TEXT NOT NULL,
    in_progress TEXT,
    completed_agents TEXT NOT NULL,
    agent_outputs TEXT NOT NULL,
    context_snapshot TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  )`,
  idx_workflow_name: "CREATE INDEX idx_workflow_name ON checkpoints (workflow_name)",
  idx_updated_at: "CREATE INDEX idx_updated_at ON checkpoints (updated_at)",
};

/** Schema version 5 adds the table of YAML workflows' checkpoints. A table of that name that isn't ours stays as it is. */
export const addCheckpoints = (db: SqliteConnection, file: string): void => addItems(db, file, ITEMS);
