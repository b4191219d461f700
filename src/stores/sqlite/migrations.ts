import { randomBytes } from "node:crypto";
import { HoldfastError } from "../../core/errors.ts";
import type { SqliteConnection } from "./driver.ts";
import { addCheckpoints } from "./fifth-schema.ts";
import { addRecords } from "./fourth-schema.ts";
import { SECOND_SCHEMA } from "./second-schema.ts";
import { addTags } from "./sixth-schema.ts";
import { catchUp } from "./third-schema.ts";

/** "HFst": marks a file as ours. */
const APPLICATION_ID = 0x48467374;

const FIRST_SCHEMA = `
  CREATE TABLE runs (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workflow TEXT NOT NULL,
    version TEXT NOT NULL,
    lineage TEXT NOT NULL,
    parent_run TEXT,
    parent_step TEXT,
    created_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    control TEXT NOT NULL,
    waiting TEXT NOT NULL,
    wake_at INTEGER,
    recoveries INTEGER NOT NULL,
    steps_done INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    error TEXT,
    updated_at INTEGER NOT NULL,
    finished_at INTEGER,
    snapshot_seq INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    owner TEXT,
    token TEXT,
    claim_until INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    head TEXT NOT NULL
  );
  CREATE INDEX runs_by_age ON runs (created_at DESC, id DESC);
  CREATE INDEX runs_by_status ON runs (status, created_at DESC, id DESC);
  CREATE INDEX runs_by_workflow ON runs (workflow, created_at DESC, id DESC);
  CREATE INDEX runs_by_parent ON runs (parent_run, created_at DESC, id DESC) WHERE parent_run IS NOT NULL;
  CREATE INDEX runs_due ON runs (wake_at, id) WHERE wake_at IS NOT NULL;

  -- A rowid table, so that the appends of all runs go to the same few pages at its end.
  CREATE TABLE journal (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    count INTEGER NOT NULL,
    head TEXT NOT NULL,
    data TEXT
  );
  CREATE UNIQUE INDEX journal_by_run ON journal (run, seq);

  CREATE TABLE blobs (n INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, data TEXT NOT NULL);
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`;

/** A statement, or several that need values. */
type Step = string | ((db: SqliteConnection, file: string) => void);

/**
 * The steps that each schema version adds. The index is the version a migration starts from. Entries are only added,
 * never edited. Each migration and its new version number are one transaction.
 */
const MIGRATIONS: readonly (readonly Step[])[] = [
  [firstSchema],
  SECOND_SCHEMA,
  [catchUp],
  [addRecords],
  [addCheckpoints],
  [addTags],
  // The id under which an entry was first written, if it was moved since.
  ["ALTER TABLE journal ADD COLUMN written INTEGER"],
];

/** The schema version of this code. */
export const SCHEMA = MIGRATIONS.length;

/** One statement, so that it reads one consistent state even while another process migrates. */
const INSPECT = `SELECT (SELECT application_id FROM pragma_application_id),
  (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`;

/** The schema version of a file, which stays untouched. Refuses a file that isn't ours or is newer. */
export function inspect(db: SqliteConnection, file: string): number {
  const [owner, version = 0, tables] = db.prepare(INSPECT).all()[0]?.map(Number) ?? [];
  const isNew = owner === 0 && version === 0 && tables === 0;
  if (owner !== APPLICATION_ID && !isNew) {
    throw new HoldfastError("HF-3006", { file, message: "It holds the data of another program." });
  }
  if (version <= SCHEMA) return version;
  throw new HoldfastError("HF-3005", { file, found: version, known: SCHEMA });
}

/**
 * Brings the schema up to date. Safe when many processes start at once: the later ones find it done. `onStep` is called
 * before each statement and after the last, for tests that stop a process there.
 */
export function migrate(db: SqliteConnection, file: string, onStep: () => void = () => undefined): void {
  if (inspect(db, file) === SCHEMA) return;
  const take = (step: Step): void => {
    onStep();
    if (typeof step === "string") db.exec(step);
    else step(db, file);
  };
  take("BEGIN IMMEDIATE");
  try {
    for (const step of MIGRATIONS.slice(inspect(db, file)).flat()) take(step);
    take(`PRAGMA application_id = ${APPLICATION_ID}`);
    take(`PRAGMA user_version = ${SCHEMA}`);
    take("COMMIT");
    onStep();
  } catch (error) {
    if (db.isInTransaction()) db.exec("ROLLBACK");
    throw error;
  }
}

function firstSchema(db: SqliteConnection): void {
  db.exec(FIRST_SCHEMA);
  const insert = db.prepare("INSERT INTO meta (key, value) VALUES (?, ?)");
  insert.run("incarnation", randomBytes(32).toString("base64url"));
  insert.run("secret", randomBytes(32).toString("base64url"));
}
