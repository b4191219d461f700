/** Reading a run reports a head that isn't valid JSON. It must not keep the file from being opened. */
const HEAD = "iif(json_valid(journal.head), journal.head, '{}')";
const EVENTS = `journal, json_each(${HEAD}, '$.v') AS event`;
const part = (path: string): string => `iif(event.type = 'array', event.value ->> '${path}', NULL)`;
const [KIND, TYPE, VALUE] = [part("$[0]"), part("$[2].type"), part("$[3]")];

/** The text with which a value points to a blob, plain and inside a JSON string. */
const POINTER = '["Blob","';
const QUOTED_POINTER = POINTER.replaceAll('"', '\\"');
const HASH_LENGTH = 43;

const SNAPSHOTS = `
  SELECT journal.run AS run, journal.data AS text FROM ${EVENTS} WHERE ${KIND} = 'snapshot_taken'
  UNION ALL SELECT journal.run, blobs.data FROM ${EVENTS} JOIN blobs ON blobs.hash = ${VALUE}
    WHERE ${KIND} = 'snapshot_taken'`;

/**
 * Schema version 2, one statement per entry. Runs record where they were forked, what they may spend and whether their
 * values were dropped; lists are also ordered by status and workflow together and by whether values exist. Every run
 * has its own blobs, in a table with a new name: a process of the previous version fails on it instead of losing a
 * blob.
 */
export const SECOND_SCHEMA: readonly string[] = [
  "ALTER TABLE runs ADD COLUMN origin_run TEXT",
  "ALTER TABLE runs ADD COLUMN origin_seq INTEGER",
  "ALTER TABLE runs ADD COLUMN schema INTEGER NOT NULL DEFAULT 1",
  "ALTER TABLE runs ADD COLUMN turns INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE runs ADD COLUMN active_ms INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE runs ADD COLUMN active_at INTEGER",
  "ALTER TABLE runs ADD COLUMN budget TEXT",
  "ALTER TABLE runs ADD COLUMN open_children INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE runs ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE runs ADD COLUMN pruned_at INTEGER",
  `UPDATE runs SET turns = found.turns, open_children = found.children FROM (
    SELECT journal.run, sum(${KIND} = 'loop_advanced') AS turns,
      sum(${KIND} = 'step_started' AND ${TYPE} IS 'child') - sum(${KIND} = 'child_finished') AS children
    FROM ${EVENTS} GROUP BY journal.run
  ) AS found WHERE runs.n = found.run AND found.turns IS NOT NULL`,
  "DROP INDEX runs_by_age",
  "DROP INDEX runs_by_status",
  "DROP INDEX runs_by_workflow",
  "CREATE INDEX runs_by_age ON runs ((pruned_at IS NOT NULL), created_at DESC, id DESC)",
  "CREATE INDEX runs_by_status ON runs (status, (pruned_at IS NOT NULL), created_at DESC, id DESC)",
  "CREATE INDEX runs_by_workflow ON runs (workflow, (pruned_at IS NOT NULL), created_at DESC, id DESC)",
  `CREATE INDEX runs_by_status_and_workflow
    ON runs (status, workflow, (pruned_at IS NOT NULL), created_at DESC, id DESC)`,
  // A rowid table, so that the blobs of all runs share the last few pages.
  `CREATE TABLE run_blobs (
    n INTEGER PRIMARY KEY, run INTEGER NOT NULL, hash TEXT NOT NULL, data TEXT NOT NULL)`,
  "CREATE UNIQUE INDEX run_blobs_by_run ON run_blobs (run, hash)",
  `INSERT INTO run_blobs (run, hash, data) SELECT named.run, blobs.hash, blobs.data FROM (
    SELECT journal.run AS run, name.value AS hash FROM journal, json_each(${HEAD}, '$.b') AS name
    UNION SELECT journal.run, ${VALUE} FROM ${EVENTS}
  ) AS named CROSS JOIN blobs ON blobs.hash = named.hash`,
  // The heads of snapshots don't name the blobs they point to. Splitting a text at each pointer gives parts that begin
  // with hashes.
  `INSERT INTO run_blobs (run, hash, data) SELECT named.run, blobs.hash, blobs.data FROM (
    SELECT DISTINCT snapshot.run, substr(piece.value, 1, ${HASH_LENGTH}) AS hash FROM (${SNAPSHOTS}) AS snapshot,
      json_each('[' || replace(json_quote(snapshot.text), '${QUOTED_POINTER}', '","') || ']') AS piece
    WHERE piece.key > 0
  ) AS named CROSS JOIN blobs ON blobs.hash = named.hash WHERE true ON CONFLICT (run, hash) DO NOTHING`,
  "DROP TABLE blobs",
];
