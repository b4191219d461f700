import type { Append } from "../../core/store/contract.ts";

const words = (text: string): string[] => text.trim().split(/\s+/);

const IDENTITY = words(
  "id workflow lineage parent_run parent_step origin_run origin_seq created_at name labels queue run_key priority",
);
/** What nearly every append changes. */
const COUNTED = words("steps_done tokens cost_usd turns active_ms active_at updated_at seq head");
const STEADY = [
  ...COUNTED,
  ...words(
    `version schema control waiting recoveries budget open_children pinned error finished_at snapshot_seq`,
  ),
];
/** Projected columns with an index: those that change occasionally, and the one that every list uses. */
const MOVING = words("status wake_at");
const PRUNING = words("pruned_at");
const CLAIM = words("epoch owner token claim_until");
/** In the order that `rows.ts` uses. */
const COLUMNS = [...IDENTITY, ...STEADY, ...MOVING, ...PRUNING, ...CLAIM];
export const ROW = COLUMNS.join(", ");

type Change = Exclude<Append["claim"]["kind"], "erase">;

const CLAIM_CHANGES: Readonly<Record<Change, string>> = {
  acquire: ", epoch = epoch + 1, owner = ?, token = ?, claim_until = ?",
  hold: ", claim_until = iif(token IS NULL, 0, ?)",
  release: ", epoch = max(epoch, ?), owner = NULL, token = NULL, claim_until = 0",
  revoke: ", epoch = epoch + 1, owner = NULL, token = NULL, claim_until = 0",
  keep: "",
};

const CONTAINING = "SELECT max(seq) FROM journal WHERE run = runs.n AND seq <= ?";
const NUMBER = "SELECT n FROM runs WHERE id = ?";

const entries = (data: string): string =>
  `SELECT j.seq, j.count, j.head, ${data} FROM runs JOIN journal j ON j.run = runs.n
    WHERE runs.id = ? AND j.seq >= coalesce((${CONTAINING}), 0) AND j.seq + j.count > ? ORDER BY j.seq LIMIT ?`;

/** All statements with a fixed text. Values are always bound. */
export const SQL = {
  begin: "BEGIN IMMEDIATE",
  snapshot: "BEGIN",
  commit: "COMMIT",
  rollback: "ROLLBACK",
  checkpoint: "PRAGMA wal_checkpoint(TRUNCATE)",
  meta: "SELECT key, value FROM meta",
  incarnation: "SELECT value FROM meta WHERE key = 'incarnation'",
  setMeta:
    "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  newest: "SELECT max(created_at) FROM runs",
  integrity: "PRAGMA integrity_check(20)",
  strays: `SELECT (SELECT count(*) FROM journal WHERE run NOT IN (SELECT n FROM runs)),
    (SELECT count(*) FROM run_blobs WHERE run NOT IN (SELECT n FROM runs))`,
  insert: `INSERT INTO runs (${ROW}) VALUES (${COLUMNS.map(() => "?").join(", ")}) ON CONFLICT (id) DO NOTHING`,
  // Inserts one row at a time: for an insert from a query, SQLite saves the original pages in a temporary file.
  entry: `INSERT INTO journal (run, seq, count, head, data) VALUES ((${NUMBER}), ?, ?, ?, ?)`,
  blob: `INSERT INTO run_blobs (run, hash, data) VALUES ((${NUMBER}), ?, ?) ON CONFLICT (run, hash) DO NOTHING`,
  // Moves entries whose data was dropped: left in place, they would keep their pages, and only empty pages are reused.
  dropData: `UPDATE journal SET id = moved.target, written = coalesce(written, id), data = NULL FROM (
      SELECT id AS source, (SELECT max(id) FROM journal) + row_number() OVER (ORDER BY seq) AS target FROM journal
      WHERE run = (${NUMBER}) AND seq IN (SELECT value FROM json_each(?)) AND data IS NOT NULL
    ) AS moved WHERE journal.id = moved.source`,
  dropBlobs: `DELETE FROM run_blobs WHERE run = (${NUMBER}) AND hash IN (SELECT value FROM json_each(?))`,
  eraseJournal: `DELETE FROM journal WHERE run = (${NUMBER})`,
  lastId: "SELECT max(id) FROM journal",
  // An entry that is moved keeps the number under which it was written.
  moveEntry: "UPDATE journal SET id = ?, written = coalesce(written, id) WHERE id = ?",
  lastChange: `SELECT (SELECT coalesce(max(id), 0) FROM journal), (SELECT group_concat(value) FROM
    (SELECT value FROM meta WHERE key IN ('incarnation', 'history') ORDER BY key))`,
  changes: `SELECT coalesce(written, id), run, seq, count, head FROM journal
    WHERE id > ? AND coalesce(written, id) > ? AND coalesce(written, id) <= ? ORDER BY coalesce(written, id) LIMIT ?`,
  // Groups numbers first: sorting heads would take twice as long.
  newestChanges: `SELECT newest.number, entry.run, entry.seq, entry.count, entry.head FROM (
      SELECT max(coalesce(written, id)) AS number, id FROM journal
      WHERE id > ? AND coalesce(written, id) > ? AND coalesce(written, id) <= ? GROUP BY run ORDER BY number LIMIT ?
    ) AS newest JOIN journal AS entry ON entry.id = newest.id ORDER BY newest.number`,
  eraseBlobs: `DELETE FROM run_blobs WHERE run = (${NUMBER})`,
  eraseRun: "DELETE FROM runs WHERE id = ?",
  renew: `UPDATE runs SET claim_until = ? WHERE id = ? AND epoch = ? AND token = ? RETURNING ${ROW}`,
  read: `SELECT ${ROW} FROM runs WHERE id = ?`,
  readNumber: `SELECT ${ROW} FROM runs WHERE n = ?`,
  entries: entries("j.data"),
  outlines: entries("iif(j.data IS NULL, NULL, '')"),
  peek: `SELECT substr(data, 1, ?), length(data) FROM run_blobs WHERE run = (${NUMBER}) AND hash = ?`,
  blobs: `SELECT hash, data FROM run_blobs WHERE run = (${NUMBER})
    AND hash IN (SELECT value FROM json_each(?))`,
  blobNames: `SELECT hash FROM run_blobs WHERE run = (${NUMBER})`,
  // The index of due runs has the order needed here, within one priority.
  due: `SELECT ${ROW} FROM runs INDEXED BY runs_due WHERE priority = ? AND wake_at <= ? AND claim_until <= ?
    AND workflow IN (SELECT value FROM json_each(?)) ORDER BY wake_at, id LIMIT ?`,
  /** The same without parts of queues, given as `[queue]`, `[queue, key]` and `[queue, label, value]`. */
  dueWithout: `SELECT ${ROW} FROM runs INDEXED BY runs_due WHERE priority = ? AND wake_at <= ? AND claim_until <= ?
    AND workflow IN (SELECT value FROM json_each(?)) AND (status = 'running' OR queue IS NULL OR (
      queue NOT IN (SELECT json_extract(value, '$[0]') FROM json_each(?))
      AND (queue, coalesce(run_key, '')) NOT IN (
        SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))
      AND NOT EXISTS (SELECT 1 FROM json_each(?) AS part WHERE json_extract(part.value, '$[0]') = queue
        AND json_extract(part.value, '$[2]') = coalesce((SELECT one.value FROM json_each(runs.labels) AS one
          WHERE one.key = json_extract(part.value, '$[1]')), ''))
    )) ORDER BY wake_at, id LIMIT ?`,
  /** The next lower priority of runs that have a wake time. */
  lower: `SELECT max(priority) FROM runs INDEXED BY runs_due WHERE wake_at IS NOT NULL AND priority < ?`,
  running: `SELECT count(*) FROM runs INDEXED BY runs_running
    WHERE status = 'running' AND queue = ? AND id <> ?`,
  runningOfKey: `SELECT count(*) FROM runs INDEXED BY runs_running
    WHERE status = 'running' AND queue = ? AND run_key = ? AND id <> ?`,
  /** A run of this workflow and key that hasn't ended; the last value is 1 for those that wait for their start. */
  inTheWay: `SELECT id FROM runs INDEXED BY runs_by_key WHERE run_key = ? AND workflow = ? AND id <> ?
    AND status IN ('queued', 'running', 'waiting', 'paused')
    AND (? = 0 OR (status = 'waiting' AND json_extract(waiting, '$[0].kind') = 'start')) LIMIT 1`,
  label: `INSERT INTO run_labels (name, value, created_at, id, run) VALUES (?, ?, ?, ?, (${NUMBER}))`,
  eraseLabel: "DELETE FROM run_labels WHERE name = ? AND value = ? AND created_at = ? AND id = ?",
} as const;

/**
 * How much of a run an append may change. SQLite rewrites every index with a changed column, so most appends change
 * none: `counts` is for those that say that only counts differ; `steady` requires status and wake time to stay the
 * same, `moving` sets them, and both are for runs that still have all their values; `whole` sets everything.
 */
export type Extent = "counts" | "steady" | "moving" | "whole";

const EXTENTS: Readonly<Record<Extent, { readonly sets: readonly string[]; readonly needs: string }>> = {
  counts: { sets: COUNTED, needs: "" },
  steady: { sets: STEADY, needs: "AND status = ? AND wake_at IS ? AND pruned_at IS NULL" },
  moving: { sets: [...STEADY, ...MOVING], needs: "AND pruned_at IS NULL" },
  whole: { sets: [...STEADY, ...MOVING, ...PRUNING], needs: "" },
};

function update(kind: Change, isOwner: boolean, extent: Extent): string {
  const { sets, needs } = EXTENTS[extent];
  return `UPDATE runs SET ${sets.map((column) => `${column} = ?`).join(", ")}${CLAIM_CHANGES[kind]}
    WHERE id = ? AND seq = ?${isOwner ? " AND token = ? AND epoch = ?" : ""}
    ${kind === "acquire" ? "AND claim_until <= ? " : ""}${needs}`;
}

const extents = (kind: Change, isOwner: boolean): Readonly<Record<Extent, string>> => ({
  counts: update(kind, isOwner, "counts"),
  steady: update(kind, isOwner, "steady"),
  moving: update(kind, isOwner, "moving"),
  whole: update(kind, isOwner, "whole"),
});

const updates = (kind: Change) => ({
  owner: extents(kind, true),
  outside: extents(kind, false),
});

/** The conditional updates of a run, by the change to its claim, the caller, and the extent of the change. */
export const UPDATES = {
  acquire: updates("acquire"),
  hold: updates("hold"),
  release: updates("release"),
  revoke: updates("revoke"),
  keep: updates("keep"),
} as const;
