import { adding, changes, creating, isSame, MANY, needs, REASON } from "./functions.ts";
import { rowOf } from "./rows.ts";

/** The arguments that say what becomes of a run: all up to its entry. */
const OF_RUN = MANY.slice(2)
  .slice(
    0,
    MANY.slice(2).findIndex((argument) => argument.startsWith("a_first")),
  )
  .map((argument) => argument.split(" ")[0] as string);

/**
 * Schema version 8: several appends with one UPDATE for all changes, where every change had one of its own. Starting and
 * ending a statement that may touch fourteen indexes took as long as what it did.
 *
 * Rows are locked in the order in which the appends are given, as before: the planner can only look each run up by its
 * id, one append after another. `= ANY` is a condition of the index and not one by which tables are joined in other ways,
 * and with `enable_seqscan` off the table isn't read as a whole, however small the server believes it to be.
 *
 * What the UPDATE passed over is looked at afterwards, without a lock: the row as it is then says why, and a batch never
 * waits for a run that comes before one which it has locked. Only if there is no reason any more, because a claim has just
 * run out, the append is tried again by itself.
 */
export const manyFunction = (at: string): readonly string[] => [
  `CREATE OR REPLACE FUNCTION ${at}append_many(${MANY.join(", ")})
RETURNS TABLE (place integer, reason text, found_row text) LANGUAGE plpgsql SET enable_seqscan = off AS $body$
#variable_conflict use_column
DECLARE
  a_i integer;
  a_run bigint;
  a_runs bigint[] := '{}';
  a_changed bigint[];
  a_numbers bigint[];
  a_row ${at}runs%ROWTYPE;
BEGIN
  IF NOT ${isSame(at)} THEN
    place := 0; reason := 'other'; RETURN NEXT; RETURN;
  END IF;
  WITH changed AS (
    UPDATE ${at}runs AS run SET ${changes(given)}
      FROM unnest(${OF_RUN.join(", ")}) WITH ORDINALITY AS one (${OF_RUN.join(", ")}, i)
      WHERE ${needs(given).replace("run.id = one.a_id", "run.id = ANY (ARRAY[one.a_id])")} RETURNING one.i, run.n
  )
  SELECT array_agg(changed.i), array_agg(changed.n) INTO a_changed, a_numbers FROM changed;
  FOR a_i IN 1 .. coalesce(cardinality(a_changed), 0) LOOP
    a_runs[a_changed[a_i]] := a_numbers[a_i];
  END LOOP;
  FOR a_i IN 1 .. cardinality(a_id) LOOP
    CONTINUE WHEN a_runs[a_i] IS NOT NULL;
    a_run := NULL;
    place := a_i;
    IF a_expected[a_i] IS NULL THEN
      ${creating(at)}
    ELSE
      ${passedOver(at)}
    END IF;
    a_runs[a_i] := a_run;
  END LOOP;
  ${adding(at)}
END $body$`,
];

function given(name: string): string {
  return `one.${name}`;
}

function passedOver(at: string): string {
  const indexed = (name: string): string => `${name}[a_i]`;
  return `LOOP
        SELECT * INTO a_row FROM ${at}runs AS run WHERE run.id = a_id[a_i];
        reason := ${REASON};
        IF reason IS NOT NULL THEN
          found_row := CASE WHEN a_row.n IS NOT NULL THEN json_build_array(${rowOf("a_row")})::text END;
          RETURN NEXT;
          EXIT;
        END IF;
        UPDATE ${at}runs AS run SET ${changes(indexed)}
          WHERE ${needs(indexed)} RETURNING n INTO a_run;
        EXIT WHEN FOUND;
      END LOOP;`;
}
