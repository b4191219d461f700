import type { SqliteConnection } from "./driver.ts";
import { addItems } from "./fourth-schema.ts";

const ITEMS: Readonly<Record<string, string>> = {
  store_documents: `CREATE TABLE store_documents (
    kind TEXT NOT NULL, key TEXT NOT NULL, version TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key)
  ) WITHOUT ROWID`,
  run_labels: `CREATE TABLE run_labels (
    name TEXT NOT NULL, value TEXT NOT NULL, created_at INTEGER NOT NULL, id TEXT NOT NULL, run INTEGER NOT NULL,
    PRIMARY KEY (name, value, created_at DESC, id DESC)
  ) WITHOUT ROWID`,
};

const CHANGES = [
  "ALTER TABLE runs ADD COLUMN name TEXT",
  "ALTER TABLE runs ADD COLUMN labels TEXT NOT NULL DEFAULT '{}'",
  "ALTER TABLE runs ADD COLUMN queue TEXT",
  "ALTER TABLE runs ADD COLUMN run_key TEXT",
  "ALTER TABLE runs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0",
  "CREATE INDEX runs_by_name ON runs (name, created_at DESC, id DESC) WHERE name IS NOT NULL",
  "CREATE INDEX runs_by_queue ON runs (queue, created_at DESC, id DESC) WHERE queue IS NOT NULL",
  "CREATE INDEX runs_by_key ON runs (run_key, created_at DESC, id DESC) WHERE run_key IS NOT NULL",
  // The limits of a queue are counted here.
  "CREATE INDEX runs_running ON runs (queue, run_key) WHERE status = 'running' AND queue IS NOT NULL",
  "DROP INDEX runs_due",
  "CREATE INDEX runs_due ON runs (priority, wake_at, id) WHERE wake_at IS NOT NULL",
];

/**
 * Schema version 6 adds how runs are named, found and queued, and what belongs to the store and not to a run. A table
 * of one of these names that isn't ours stays as it is, and nothing is changed.
 */
export function addTags(db: SqliteConnection, file: string): void {
  addItems(db, file, ITEMS);
  for (const text of CHANGES) db.exec(text);
}
