import type { Append } from "../../core/store/contract.ts";
import { isSame, type Opened } from "./migrations.ts";
import { recordsAdded, recordsDropped } from "./records.ts";
import { IDENTIFYING, identifying, PROJECTED, projected, rowOf, TYPES } from "./rows.ts";
import { type Bind, CLOCK, FLUSH, type Statement, statement } from "./statement.ts";

/**
 * One statement for a batch in which no run appears twice. It locks the existing runs in a fixed order and reads them
 * after that; checks each append; applies the accepted ones; and returns for each append its index, the reason for a
 * refusal, and in that case the current row. A create that lost to one that isn't visible yet comes back without the
 * row.
 */
export function batchStatement(at: string, opened: Opened, batch: readonly Append[]): Statement {
  return statement((bind) => {
    const parts = [
      ...judging(at, opened, batch, bind),
      ...changing(at, batch),
      ...adding(at, batch, bind),
      ...dropping(at, batch, bind),
      ...recordsAdded(at, batch, bind),
      ...recordsDropped(at, batch, bind),
      ...erasing(at, batch),
    ];
    return `WITH ${parts.join(", ")}
SELECT judged.i, CASE WHEN taken.n IS NULL THEN coalesce(judged.reason, 'exists') END,
  CASE WHEN found.n IS NOT NULL AND taken.n IS NULL THEN json_build_array(${rowOf("found")})::text END,
  ${FLUSH}
FROM judged LEFT JOIN taken ON taken.i = judged.i LEFT JOIN found ON found.id = judged.id`;
  });
}

/** A JSON array as a table. JSON inside it travels as text, so that escapes which PostgreSQL can't decode survive. */
const table = (bind: Bind, rows: readonly object[], name: string, columns: string): string =>
  `json_to_recordset(${bind(JSON.stringify(rows), "json")}) AS ${name} (${columns})`;

const INPUT_COLUMNS = [
  "i integer, expect_seq bigint, expect_epoch bigint, expect_token text",
  "kind text, new_owner text, new_token text, ttl double precision, least_epoch bigint",
  ...[...IDENTIFYING, ...PROJECTED].map((name) => `${name} ${TYPES[name]}`),
].join(", ");

function toInput(append: Append, i: number): object {
  const { run, expect, claim } = append;
  return {
    i,
    expect_seq: expect?.seq,
    expect_epoch: expect?.epoch,
    expect_token: expect?.token,
    kind: claim.kind,
    ...(claim.kind === "acquire" ? { new_owner: claim.owner, new_token: claim.token, ttl: claim.ttlMs } : {}),
    ...(claim.kind === "hold" ? { ttl: claim.ttlMs } : {}),
    ...(claim.kind === "release" ? { least_epoch: claim.epoch } : {}),
    ...(expect === null ? identifying(append) : { id: run.id }),
    ...projected(append),
  };
}

/** The reason when the store isn't the one that was opened. */
export const OTHER = "other";

/** In the order of checks that the contract defines. */
const REASON = `CASE
    WHEN input.expect_seq IS NULL THEN CASE WHEN found.n IS NOT NULL THEN 'exists' END
    WHEN found.n IS NULL THEN 'missing'
    WHEN input.expect_token IS NOT NULL
      AND (found.token IS DISTINCT FROM input.expect_token OR found.epoch <> input.expect_epoch) THEN 'fenced'
    WHEN input.kind = 'acquire' AND found.claim_until > ${CLOCK} THEN 'held'
    WHEN found.seq <> input.expect_seq THEN 'conflict' END`;

const judging = (at: string, opened: Opened, batch: readonly Append[], bind: Bind): string[] => [
  `input AS MATERIALIZED (SELECT * FROM ${table(bind, batch.map(toInput), "input", INPUT_COLUMNS)})`,
  `found AS MATERIALIZED (
  SELECT * FROM ${at}runs WHERE id = ANY (${bind(
    batch.map(({ run }) => run.id),
    "text[]",
  )}) ORDER BY id FOR NO KEY UPDATE
)`,
  `judged AS MATERIALIZED (
  SELECT input.*, found.n,
    CASE WHEN NOT ${isSame(at, opened, bind)} THEN '${OTHER}' ELSE ${REASON} END AS reason FROM input LEFT JOIN found ON found.id = input.id
)`,
];

const CHANGED_CLAIM = `epoch = greatest(run.epoch + CASE WHEN judged.kind IN ('acquire', 'revoke') THEN 1 ELSE 0 END, judged.least_epoch),
    owner = CASE WHEN judged.kind IN ('hold', 'keep') THEN run.owner ELSE judged.new_owner END,
    token = CASE WHEN judged.kind IN ('hold', 'keep') THEN run.token ELSE judged.new_token END,
    claim_until = CASE
      WHEN judged.kind = 'keep' OR judged.kind = 'hold' AND run.token IS NULL THEN run.claim_until
      WHEN judged.kind IN ('hold', 'acquire') THEN ${CLOCK} + judged.ttl ELSE 0 END`;

const FIRST_CLAIM = `greatest(CASE WHEN judged.kind IN ('acquire', 'revoke') THEN 1 ELSE 0 END, judged.least_epoch),
    judged.new_owner, judged.new_token, CASE WHEN judged.kind = 'acquire' THEN ${CLOCK} + judged.ttl ELSE 0 END`;

const INSERTED = [...IDENTIFYING, ...PROJECTED];

/** Includes only what the batch needs: PostgreSQL would also plan the parts that no row goes through. */
function changing(at: string, batch: readonly Append[]): string[] {
  const changed = `changed AS (
  UPDATE ${at}runs AS run SET ${PROJECTED.map((name) => `${name} = judged.${name}`).join(", ")}, ${CHANGED_CLAIM}
  FROM judged WHERE run.n = judged.n AND judged.reason IS NULL AND judged.expect_seq IS NOT NULL
    AND judged.kind <> 'erase' RETURNING judged.i, run.n
)`;
  const created = `created AS (
  INSERT INTO ${at}runs (${INSERTED.join(", ")}, epoch, owner, token, claim_until)
  SELECT ${INSERTED.map((name) => `judged.${name}`).join(", ")}, ${FIRST_CLAIM}
  FROM judged WHERE judged.reason IS NULL AND judged.expect_seq IS NULL ORDER BY judged.id
  ON CONFLICT (id) DO NOTHING RETURNING id, n
)`;
  const erased = `erased AS (
  DELETE FROM ${at}runs AS run USING judged
  WHERE run.n = judged.n AND judged.reason IS NULL AND judged.kind = 'erase' RETURNING judged.i, run.n
)`;
  const isCreated = "SELECT judged.i, created.n FROM created JOIN judged ON judged.id = created.id";
  const parts = [
    { part: changed, isTaken: "SELECT i, n FROM changed", isNeeded: batch.some(isChange) },
    { part: created, isTaken: isCreated, isNeeded: batch.some(({ expect }) => expect === null) },
    { part: erased, isTaken: "SELECT i, n FROM erased", isNeeded: batch.some(isErasure) },
  ].filter(({ isNeeded }) => isNeeded);
  const taken = parts.map(({ isTaken }) => isTaken).join(" UNION ALL ");
  return [...parts.map(({ part }) => part), `taken AS MATERIALIZED (${taken})`];
}

const isErasure = ({ claim }: Append): boolean => claim.kind === "erase";
const isChange = (append: Append): boolean => append.expect !== null && !isErasure(append);

/** Removes everything of the runs that this statement erases. */
function erasing(at: string, batch: readonly Append[]): string[] {
  if (!batch.some(isErasure)) return [];
  const gone = (table: string): string =>
    `${table}_gone AS (DELETE FROM ${at}${table} AS part USING erased WHERE part.run = erased.n)`;
  return [gone("journal"), gone("blobs")];
}

function adding(at: string, batch: readonly Append[], bind: Bind): string[] {
  const entries = batch.flatMap((append, i) => append.entries.map((entry) => ({ i, ...entry })));
  const blobs = batch.flatMap((append, i) => append.blobs.map((blob) => ({ i, ...blob })));
  const written = `entries_added AS (
  INSERT INTO ${at}journal (run, seq, count, head, data)
  SELECT taken.n, entry.seq, entry.count, entry.head, entry.data
  FROM ${table(bind, entries, "entry", "i integer, seq bigint, count integer, head text, data text")}
  JOIN taken ON taken.i = entry.i
)`;
  if (blobs.length === 0) return [written];
  return [
    written,
    `blobs_added AS (
  INSERT INTO ${at}blobs (run, hash, data) SELECT taken.n, blob.hash, blob.data
  FROM ${table(bind, blobs, "blob", "i integer, hash text, data text")} JOIN taken ON taken.i = blob.i
  ON CONFLICT (run, hash) DO NOTHING
)`,
  ];
}

/** Keeps what the append itself writes: its entries aren't visible here yet, and its blobs are excluded. */
function dropping(at: string, batch: readonly Append[], bind: Bind): string[] {
  if (!batch.some(({ drop }) => drop)) return [];
  const entries = batch.flatMap(({ drop }, i) => (drop?.entries ?? []).map((seq) => ({ i, seq })));
  const blobs = batch.flatMap(({ drop, blobs: kept }, i) => {
    const stays = new Set(kept.map(({ hash }) => hash));
    return (drop?.blobs ?? []).filter((hash) => !stays.has(hash)).map((hash) => ({ i, hash }));
  });
  return [
    `values_dropped AS (
  UPDATE ${at}journal AS entry SET data = NULL
  FROM ${table(bind, entries, "gone", "i integer, seq bigint")} JOIN taken ON taken.i = gone.i
  WHERE entry.run = taken.n AND entry.seq = gone.seq AND entry.data IS NOT NULL
)`,
    `blobs_dropped AS (
  DELETE FROM ${at}blobs AS blob
  USING ${table(bind, blobs, "gone", "i integer, hash text")} JOIN taken ON taken.i = gone.i
  WHERE blob.run = taken.n AND blob.hash = gone.hash
)`,
  ];
}
