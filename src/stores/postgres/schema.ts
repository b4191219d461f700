import { appendFunctions } from "./functions.ts";
import { limitedFunction } from "./limited-function.ts";
import { manyFunction } from "./many-function.ts";
import { recordTables } from "./record-tables.ts";
import { views } from "./views.ts";

/** Schema version 4 adds how runs are named, found and queued, and what belongs to the store and not to a run. */
const tagsAndDocuments = (at: string): readonly string[] => [
  `CREATE TABLE ${at}store_documents (
    kind text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, version text NOT NULL, value text NOT NULL,
    PRIMARY KEY (kind, key)
    )`,
  `ALTER TABLE ${at}runs ADD COLUMN name text COLLATE "C", ADD COLUMN labels jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN queue text COLLATE "C", ADD COLUMN run_key text COLLATE "C",
    ADD COLUMN priority integer NOT NULL DEFAULT 0`,
  `CREATE INDEX runs_by_name ON ${at}runs (name, created_at DESC, id DESC) WHERE name IS NOT NULL`,
  `CREATE INDEX runs_by_queue ON ${at}runs (queue, created_at DESC, id DESC) WHERE queue IS NOT NULL`,
  `CREATE INDEX runs_by_key ON ${at}runs (run_key, created_at DESC, id DESC) WHERE run_key IS NOT NULL`,
  `CREATE INDEX runs_by_label ON ${at}runs USING gin (labels jsonb_path_ops) WHERE labels <> '{}'::jsonb`,
  // The limits of a queue are counted here.
  `CREATE INDEX runs_running ON ${at}runs (queue, run_key) WHERE status = 'running' AND queue IS NOT NULL`,
  `DROP INDEX ${at}runs_due`,
  `CREATE INDEX runs_due ON ${at}runs (priority, wake_at, id) WHERE wake_at IS NOT NULL`,
];

/**
 * Schema version 5 adds the transaction that wrote an entry, so that what became visible after a moment can be found.
 * Entries of earlier versions have none.
 */
const writers = (at: string): readonly string[] => [
  `ALTER TABLE ${at}journal ADD COLUMN xact bigint`,
  `ALTER TABLE ${at}journal ALTER COLUMN xact SET DEFAULT txid_current()`,
  `CREATE INDEX journal_by_xact ON ${at}journal (xact) WHERE xact IS NOT NULL`,
];

/**
 * The statements that each schema version adds. The index is the version a migration starts from. Entries are only
 * added, never edited. `at` is the quoted schema with a dot.
 */
export const MIGRATIONS: readonly ((at: string) => readonly string[])[] = [
  (at) => [
    `CREATE TABLE ${at}meta (key text PRIMARY KEY, value text NOT NULL)`,
    // Texts are compared byte by byte: the contract requires that order, and it doesn't depend on the system. Pages
    // keep room for the next version of their rows, so that an append that changes no indexed column touches no index.
    `CREATE TABLE ${at}runs (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    parent_run text COLLATE "C",
    created_at double precision NOT NULL,
    identity text NOT NULL,
    status text COLLATE "C" NOT NULL,
    wake_at double precision,
    pruned_at double precision,
    projection text NOT NULL,
    epoch bigint NOT NULL,
    owner text,
    token text COLLATE "C",
    claim_until bigint NOT NULL,
    seq bigint NOT NULL,
    head text NOT NULL
    ) WITH (fillfactor = 60)`,
    `CREATE UNIQUE INDEX runs_by_id ON ${at}runs (id)`,
    `CREATE INDEX runs_by_age ON ${at}runs (created_at DESC, id DESC)`,
    `CREATE INDEX runs_by_status ON ${at}runs (status, created_at DESC, id DESC)`,
    `CREATE INDEX runs_by_workflow ON ${at}runs (workflow, created_at DESC, id DESC)`,
    `CREATE INDEX runs_by_status_and_workflow ON ${at}runs (status, workflow, created_at DESC, id DESC)`,
    `CREATE INDEX runs_by_parent ON ${at}runs (parent_run, created_at DESC, id DESC) WHERE parent_run IS NOT NULL`,
    `CREATE INDEX runs_with_values ON ${at}runs (status, created_at DESC, id DESC) WHERE pruned_at IS NULL`,
    `CREATE INDEX runs_due ON ${at}runs (wake_at, id) WHERE wake_at IS NOT NULL`,
    `CREATE TABLE ${at}journal (
    run bigint NOT NULL, seq bigint NOT NULL, count integer NOT NULL, head text NOT NULL, data text,
    PRIMARY KEY (run, seq)
    )`,
    `CREATE TABLE ${at}blobs (
    run bigint NOT NULL, hash text COLLATE "C" NOT NULL, data text NOT NULL, PRIMARY KEY (run, hash)
    )`,
    ...views(at),
  ],
  // Journal format 2: no table changes, but older versions must not read it.
  () => [],
  recordTables,
  tagsAndDocuments,
  writers,
  appendFunctions,
  limitedFunction,
  manyFunction,
];

/** The functions of the newest version, by name. Their texts hold the name of the schema. */
export function functionsOf(at: string): readonly { readonly name: string; readonly text: string }[] {
  const texts = [appendFunctions, limitedFunction, manyFunction].flatMap((functions) => functions(at));
  const newest = new Map(texts.map((text) => [CREATED.exec(text)?.[1], text]));
  return [...newest].flatMap(([name, text]) => (name === undefined ? [] : [{ name, text }]));
}

const CREATED = /^CREATE (?:OR REPLACE )?FUNCTION "[^"]+"\.(\w+)/;
