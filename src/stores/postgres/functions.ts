import { IDENTIFYING, PROJECTED, rowOf, TYPES } from "./rows.ts";
import { CLOCK } from "./statement.ts";

/**
 * Schema version 6: appends as functions. The server keeps their plans on each of its own connections, so they are
 * planned once, also behind a pooler, where a prepared statement would get lost. They run with the rights of the caller.
 *
 * Both are judged as every statement at READ COMMITTED is. An UPDATE that meets a row which another transaction has
 * changed waits for its end and then looks at its conditions again, on the row as it is now. So whatever the order in
 * which two writers arrive and commit, the second one finds the position, token and epoch that the first one left. At a
 * stricter isolation the server refuses instead (40001), and the call is repeated.
 */
export const appendFunctions = (at: string): readonly string[] => [
  appendOne(at),
  appendMany(at),
  fastValues(at),
];

/** The names of arguments begin with `a_`, so that none is taken for a column. */
const CLAIM = ["a_kind text", "a_owner text", "a_new_token text", "a_ttl double precision", "a_least bigint"];

/** The order of arguments, which the calls follow. `a_of` is the store that the caller has opened. */
export const ONE = [
  "a_of oid",
  "a_incarnation text",
  "a_id text",
  "a_expected bigint",
  "a_epoch bigint",
  "a_token text",
  ...CLAIM,
  ...PROJECTED.map((name) => `a_${name} ${TYPES[name]}`),
  "a_first bigint",
  "a_count integer",
  "a_entry text",
  "a_data text",
];

const EACH = [...ONE.slice(2), ...IDENTIFYING.filter((name) => name !== "id").map(named)];
function named(name: (typeof IDENTIFYING)[number]): string {
  // As text, because there is no array of JSON that every driver can send.
  return `a_${name} ${name === "labels" ? "text" : TYPES[name]}`;
}

export const MANY = [
  ...ONE.slice(0, 2),
  ...EACH.map((argument) => `${argument}[]`),
  // Blobs: the place of their append, counted from 1.
  "a_places integer[]",
  "a_hashes text[]",
  "a_blobs text[]",
];

/** Forces a flush of this commit on servers that don't flush commits by default. */
const FLUSHED = `IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;`;

export const isSame = (at: string): string =>
  `EXISTS (SELECT FROM ${at}meta AS meta WHERE meta.key = 'incarnation' AND meta.value = a_incarnation AND meta.tableoid = a_of)`;

/** What an accepted append does to the row. `of` gives the argument of this name. */
export const changes = (of: (name: string) => string): string => `${PROJECTED.map(
  (name) => `${name} = ${of(`a_${name}`)}`,
).join(", ")},
      epoch = greatest(run.epoch + CASE WHEN ${of("a_kind")} IN ('acquire', 'revoke') THEN 1 ELSE 0 END, ${of("a_least")}),
      owner = CASE WHEN ${of("a_kind")} IN ('hold', 'keep') THEN run.owner ELSE ${of("a_owner")} END,
      token = CASE WHEN ${of("a_kind")} IN ('hold', 'keep') THEN run.token ELSE ${of("a_new_token")} END,
      claim_until = CASE
        WHEN ${of("a_kind")} = 'keep' OR ${of("a_kind")} = 'hold' AND run.token IS NULL THEN run.claim_until
        WHEN ${of("a_kind")} IN ('hold', 'acquire') THEN ${CLOCK} + ${of("a_ttl")} ELSE 0 END`;

/** When it is accepted. */
export const needs = (
  of: (name: string) => string,
): string => `run.id = ${of("a_id")} AND run.seq = ${of("a_expected")}
      AND (${of("a_token")} IS NULL OR run.token = ${of("a_token")} AND run.epoch = ${of("a_epoch")})
      AND (${of("a_kind")} <> 'acquire' OR run.claim_until <= ${CLOCK})`;

/** One append that changes a run and adds an entry, as most do. False when it was refused, for whatever reason. */
const appendOne = (at: string): string => `CREATE FUNCTION ${at}append_one(${ONE.join(", ")})
RETURNS boolean LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
  a_run bigint;
BEGIN
  UPDATE ${at}runs AS run SET ${changes((name) => name)}
    WHERE ${needs((name) => name)} AND ${isSame(at)} RETURNING n INTO a_run;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO ${at}journal (run, seq, count, head, data) VALUES (a_run, a_first, a_count, a_entry, a_data);
  ${FLUSHED}
  RETURN true;
END $body$`;

const indexed = (name: string): string => `${name}[a_i]`;

/** In the order of checks that the contract defines. */
export const REASON = `CASE
        WHEN NOT FOUND THEN 'missing'
        WHEN a_token[a_i] IS NOT NULL
          AND (a_row.token IS DISTINCT FROM a_token[a_i] OR a_row.epoch <> a_epoch[a_i]) THEN 'fenced'
        WHEN a_kind[a_i] = 'acquire' AND a_row.claim_until > ${CLOCK} THEN 'held'
        WHEN a_row.seq <> a_expected[a_i] THEN 'conflict' END`;

const COLUMNS = [...IDENTIFYING, ...PROJECTED];
const created = (name: string): string => (name === "labels" ? "a_labels[a_i]::jsonb" : `a_${name}[a_i]`);

export const creating = (
  at: string,
): string => `INSERT INTO ${at}runs AS run (${COLUMNS.join(", ")}, epoch, owner, token, claim_until)
        VALUES (${COLUMNS.map(created).join(", ")},
          greatest(CASE WHEN a_kind[a_i] IN ('acquire', 'revoke') THEN 1 ELSE 0 END, a_least[a_i]),
          a_owner[a_i], a_new_token[a_i], CASE WHEN a_kind[a_i] = 'acquire' THEN ${CLOCK} + a_ttl[a_i] ELSE 0 END)
        ON CONFLICT (id) DO NOTHING RETURNING n INTO a_run;
      IF NOT FOUND THEN
        reason := 'exists';
        found_row := (SELECT json_build_array(${rowOf("run")})::text FROM ${at}runs AS run WHERE run.id = a_id[a_i]);
        RETURN NEXT;
      END IF;`;

/**
 * After a refusal, the row is locked before the reason is found. If there is none, because a claim has just run out,
 * the append is tried again, and then nothing can come in between.
 */
const changing = (at: string): string => `LOOP
        UPDATE ${at}runs AS run SET ${changes(indexed)}
          WHERE ${needs(indexed)} RETURNING n INTO a_run;
        EXIT WHEN FOUND;
        SELECT * INTO a_row FROM ${at}runs AS run WHERE run.id = a_id[a_i] FOR NO KEY UPDATE;
        reason := ${REASON};
        CONTINUE WHEN reason IS NULL;
        found_row := CASE WHEN a_row.n IS NOT NULL THEN json_build_array(${rowOf("a_row")})::text END;
        RETURN NEXT;
        EXIT;
      END LOOP;`;

/** Adds the entries and blobs of all runs that `a_runs` has: those whose rows were written. */
export const adding = (at: string): string => `INSERT INTO ${at}journal (run, seq, count, head, data)
    SELECT one.run, one.first, one.count, one.entry, one.data
    FROM unnest(a_runs, a_first, a_count, a_entry, a_data) AS one (run, first, count, entry, data)
    WHERE one.run IS NOT NULL;
  IF cardinality(a_places) > 0 THEN
    INSERT INTO ${at}blobs (run, hash, data) SELECT a_runs[blob.place], blob.hash, blob.data
      FROM unnest(a_places, a_hashes, a_blobs) AS blob (place, hash, data)
      WHERE a_runs[blob.place] IS NOT NULL ON CONFLICT (run, hash) DO NOTHING;
  END IF;
  ${FLUSHED}`;

/**
 * Several appends, of which no two are of one run, each with one entry. Returns those that were refused: the place, the
 * reason, and the row as it is. The caller gives changes first and creations after them, each in the order of their
 * ids: rows are locked in that order, as all other statements do, so that no two wait for each other.
 *
 * An UPDATE for each has one plan, by the id, whatever the server believes about the size of the table. Entries and
 * blobs follow all at once: whoever has changed the row is the only one that may write them.
 */
const appendMany = (at: string): string => `CREATE FUNCTION ${at}append_many(${MANY.join(", ")})
RETURNS TABLE (place integer, reason text, found_row text) LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
  a_i integer;
  a_run bigint;
  a_runs bigint[] := '{}';
  a_row ${at}runs%ROWTYPE;
BEGIN
  IF NOT ${isSame(at)} THEN
    place := 0; reason := 'other'; RETURN NEXT; RETURN;
  END IF;
  FOR a_i IN 1 .. cardinality(a_id) LOOP
    a_run := NULL;
    place := a_i;
    IF a_expected[a_i] IS NULL THEN
      ${creating(at)}
    ELSE
      ${changing(at)}
    END IF;
    a_runs[a_i] := a_run;
  END LOOP;
  ${adding(at)}
END $body$`;

/** Values of some size are compressed by the server. Where it can, it does so in a fraction of the time. */
const fastValues = (at: string): string => `DO $body$
BEGIN
  EXECUTE 'ALTER TABLE ${at}journal ALTER COLUMN data SET COMPRESSION lz4';
  EXECUTE 'ALTER TABLE ${at}blobs ALTER COLUMN data SET COMPRESSION lz4';
EXCEPTION WHEN feature_not_supported OR syntax_error THEN
  NULL;
END $body$`;
