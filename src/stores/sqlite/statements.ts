import type { Append, Entry, SqlValue } from "../../core/store.ts";
import type { RunRow } from "../../core/types.ts";

const words = (text: string): string[] => text.trim().split(/\s+/);

const IDENTITY = words("id workflow version lineage parent_run parent_step created_at");
const STEADY = words(`control waiting recoveries steps_done tokens cost_usd error updated_at finished_at
  snapshot_seq seq head`);
/** The projected columns that have an index. */
const INDEXED = words("status wake_at");
const CLAIM = words("epoch owner token claim_until");
const COLUMNS = [...IDENTITY, ...STEADY, ...INDEXED, ...CLAIM];
const ROW = COLUMNS.join(", ");

const CLAIM_CHANGES: Readonly<Record<Append["claim"]["kind"], string>> = {
  acquire: ", epoch = epoch + 1, owner = ?, token = ?, claim_until = ?",
  hold: ", claim_until = iif(token IS NULL, 0, ?)",
  release: ", owner = NULL, token = NULL, claim_until = 0",
  revoke: ", epoch = epoch + 1, owner = NULL, token = NULL, claim_until = 0",
  keep: "",
};

const CONTAINING = "SELECT max(seq) FROM journal WHERE run = runs.n AND seq <= ?";

/** Every statement with a fixed text. Values are always bound. */
export const SQL = {
  begin: "BEGIN IMMEDIATE",
  snapshot: "BEGIN",
  commit: "COMMIT",
  rollback: "ROLLBACK",
  checkpoint: "PRAGMA wal_checkpoint(TRUNCATE)",
  meta: "SELECT key, value FROM meta",
  insert: `INSERT INTO runs (${ROW}) VALUES (${COLUMNS.map(() => "?").join(", ")}) ON CONFLICT (id) DO NOTHING`,
  entry: "INSERT INTO journal (run, seq, count, head, data) SELECT n, ?, ?, ?, ? FROM runs WHERE id = ?",
  blob: "INSERT OR IGNORE INTO blobs (hash, data) VALUES (?, ?)",
  renew: `UPDATE runs SET claim_until = ? WHERE id = ? AND epoch = ? AND token = ? RETURNING ${ROW}`,
  read: `SELECT ${ROW} FROM runs WHERE id = ?`,
  entries: `SELECT j.seq, j.count, j.head, j.data FROM runs JOIN journal j ON j.run = runs.n
    WHERE runs.id = ? AND j.seq >= coalesce((${CONTAINING}), 0) AND j.seq + j.count > ? ORDER BY j.seq LIMIT ?`,
  blobs: "SELECT hash, data FROM blobs WHERE hash IN (SELECT value FROM json_each(?))",
  // The plus keeps the planner on the index of due runs, whose order is the one asked for.
  due: `SELECT ${ROW} FROM runs WHERE wake_at <= ? AND claim_until <= ?
    AND +workflow IN (SELECT value FROM json_each(?)) ORDER BY wake_at, id LIMIT ?`,
} as const;

/** The conditional change of a run. One that leaves the indexed columns alone writes two pages less. */
function update(kind: Append["claim"]["kind"], isOwner: boolean, isSteady: boolean): string {
  const columns = isSteady ? STEADY : [...STEADY, ...INDEXED];
  return `UPDATE runs SET ${columns.map((column) => `${column} = ?`).join(", ")}${CLAIM_CHANGES[kind]}
    WHERE id = ? AND seq = ?${isOwner ? " AND token = ? AND epoch = ?" : ""}
    ${kind === "acquire" ? "AND claim_until <= ? " : ""}${isSteady ? "AND status = ? AND wake_at IS ?" : ""}`;
}

const updates = (kind: Append["claim"]["kind"]) => ({
  owner: { steady: update(kind, true, true), moving: update(kind, true, false) },
  outside: { steady: update(kind, false, true), moving: update(kind, false, false) },
});

/** By what happens to the claim, who asks, and whether the indexed columns stay as they are. */
export const UPDATES = {
  acquire: updates("acquire"),
  hold: updates("hold"),
  release: updates("release"),
  revoke: updates("revoke"),
  keep: updates("keep"),
} as const;

/** One page of runs. Each combination of filters has its own text, so that each is served by an index. */
export function listSql(
  filters: readonly ("status" | "workflow" | "parent_run")[],
  isContinued: boolean,
): string {
  const conditions = filters.map((column) => `${column} = ?`);
  if (isContinued) conditions.push("(created_at, id) < (?, ?)");
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  return `SELECT ${ROW} FROM runs ${where} ORDER BY created_at DESC, id DESC LIMIT ?`;
}

export function insertValues(append: Append, now: number): SqlValue[] {
  const { id, workflow, version, lineage, parent, createdAt } = append.run;
  const { claim } = append;
  const identity = [id, workflow, version, lineage, parent?.runId ?? null, parent?.step ?? null, createdAt];
  const taken =
    claim.kind === "acquire" ? [1, claim.owner, claim.token, now + claim.ttlMs] : [0, null, null, 0];
  return [...identity, ...steadyValues(append), append.run.status, append.run.wakeAt, ...taken];
}

export function updateValues(append: Append, now: number, isSteady: boolean): SqlValue[] {
  const { run, claim, expect } = append;
  const values: SqlValue[] = steadyValues(append);
  if (!isSteady) values.push(run.status, run.wakeAt);
  if (claim.kind === "acquire") values.push(claim.owner, claim.token, now + claim.ttlMs);
  if (claim.kind === "hold") values.push(now + claim.ttlMs);
  values.push(run.id, expect?.seq ?? null);
  if (expect && expect.token !== null) values.push(expect.token, expect.epoch);
  if (claim.kind === "acquire") values.push(now);
  if (isSteady) values.push(run.status, run.wakeAt);
  return values;
}

function steadyValues({ run, entry, head }: Append): SqlValue[] {
  const { control, waiting, recoveries, stepsDone, usage, error, updatedAt, finishedAt, snapshotSeq } = run;
  const state = [control, JSON.stringify(waiting), recoveries, stepsDone, usage.tokens, usage.costUsd, error];
  return [...state, updatedAt, finishedAt, snapshotSeq, entry.seq + entry.count - 1, head];
}

/** A row's values in the order of COLUMNS. */
type RowValues = [
  id: string,
  workflow: string,
  version: string,
  lineage: string,
  parentRun: string | null,
  parentStep: string | null,
  createdAt: number,
  control: RunRow["control"],
  waiting: string,
  recoveries: number,
  stepsDone: number,
  tokens: number,
  costUsd: number,
  error: string | null,
  updatedAt: number,
  finishedAt: number | null,
  snapshotSeq: number,
  seq: number,
  head: string,
  status: RunRow["status"],
  wakeAt: number | null,
  epoch: number,
  owner: string | null,
  token: string | null,
  until: number,
];

export function toRow(values: readonly SqlValue[]): RunRow {
  const [id, workflow, version, lineage, parentRun, parentStep, createdAt, ...projected] =
    values as RowValues;
  const [control, waiting, recoveries, stepsDone, tokens, costUsd, error, ...position] = projected;
  const [updatedAt, finishedAt, snapshotSeq, seq, head, status, wakeAt, ...claim] = position;
  const [epoch, owner, token, until] = claim;
  const identity = { id, workflow, version, lineage, createdAt };
  const progress = {
    status,
    control,
    wakeAt,
    recoveries,
    stepsDone,
    error,
    updatedAt,
    finishedAt,
    snapshotSeq,
  };
  return {
    ...identity,
    ...progress,
    parent: parentRun === null ? null : { runId: parentRun, step: parentStep ?? "" },
    waiting: JSON.parse(waiting),
    usage: { tokens, costUsd },
    claim: { epoch, owner, token, until },
    seq,
    head,
  };
}

export function toEntry(values: readonly SqlValue[]): Entry {
  const [seq, count, head, data] = values as [number, number, string, string | null];
  return { seq, count, head, data };
}
