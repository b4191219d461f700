/**
 * The tables of records: columns, types, defaults and indexes as other programs expect them. `record_keys` says which
 * run and event a record belongs to.
 */
const AGENT_COLUMNS = `
    id SERIAL PRIMARY KEY,
    stock_ticker VARCHAR(10) NOT NULL,
    agent_type VARCHAR(50) NOT NULL,
    analysis_id UUID NOT NULL,
    checkpoint_time TIMESTAMP NOT NULL,
    progress_pct DECIMAL(5,2),
    current_subtask VARCHAR(100),
    completed_subtasks TEXT[],
    pending_subtasks TEXT[],
    working_memory JSONB,
    interim_results JSONB,
    agent_config JSONB,
    failure_reason TEXT,
    error_details JSONB,
    retry_count INT DEFAULT 0,
    agent_version VARCHAR(20),
    created_at TIMESTAMP DEFAULT NOW()`;

/** Names that the tables and indexes of records take. Views of earlier versions had the first two. */
export const RECORD_NAMES = [
  "agent_checkpoints",
  "workflow_checkpoints",
  "agent_checkpoints_archive",
  "record_keys",
  "idx_stock_agent",
  "idx_analysis",
  "idx_checkpoints_workflow",
  "positions",
  "entries",
];

/** The views that earlier versions made under these names get names of their own: `positions` and `entries`. */
export const recordTables = (at: string): readonly string[] => [
  `ALTER VIEW ${at}agent_checkpoints RENAME TO positions`,
  `ALTER VIEW ${at}workflow_checkpoints RENAME TO entries`,
  `CREATE TABLE ${at}agent_checkpoints (${AGENT_COLUMNS},
    UNIQUE (analysis_id, agent_type, checkpoint_time)
  )`,
  `CREATE INDEX idx_stock_agent ON ${at}agent_checkpoints (stock_ticker, agent_type)`,
  `CREATE INDEX idx_analysis ON ${at}agent_checkpoints (analysis_id)`,
  `CREATE TABLE ${at}agent_checkpoints_archive (${AGENT_COLUMNS}
  )`,
  `CREATE TABLE ${at}workflow_checkpoints (
    id TEXT PRIMARY KEY,
    workflow_id TEXT NOT NULL,
    timestamp TIMESTAMPTZ DEFAULT NOW(),
    layer_index INTEGER NOT NULL,
    state JSONB NOT NULL,
    dag_structure JSONB NOT NULL,
    execution_config JSONB NOT NULL
  )`,
  `CREATE INDEX idx_checkpoints_workflow ON ${at}workflow_checkpoints (workflow_id, timestamp DESC)`,
  `CREATE TABLE ${at}record_keys (
    run bigint NOT NULL, seq bigint NOT NULL, name text NOT NULL, key text NOT NULL,
    PRIMARY KEY (run, seq), UNIQUE (name, key)
  )`,
];
