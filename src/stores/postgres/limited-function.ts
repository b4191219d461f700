import { ONE } from "./functions.ts";

/** The order of arguments, which the call follows. */
export const LIMITED = ["a_locks text[]", "a_queues text[]", "a_keys text[]", "a_most bigint[]", ...ONE];

/**
 * Schema version 7: a claim that has limits, as a function. Claims of a queue take turns, so it matters how long each
 * of them takes: the lock is held for one statement, and not while a process and the server talk to each other.
 *
 * Every statement in it sees what was committed before it began, so the count comes after the lock. At a stricter
 * isolation it would see what was there before the lock, so there it does nothing: `unsure` leaves it to the caller.
 */
export const limitedFunction = (at: string): readonly string[] => [
  `CREATE FUNCTION ${at}append_limited(${LIMITED.join(", ")})
RETURNS text LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
  a_i integer;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN RETURN 'unsure'; END IF;
  FOR a_i IN 1 .. cardinality(a_locks) LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended(a_locks[a_i], 0));
  END LOOP;
  FOR a_i IN 1 .. cardinality(a_queues) LOOP
    IF (SELECT count(*) FROM ${at}runs AS run WHERE run.status = 'running' AND run.queue = a_queues[a_i]
        AND (a_keys[a_i] IS NULL OR run.run_key = a_keys[a_i]) AND run.id <> a_id) >= a_most[a_i] THEN
      RETURN 'full';
    END IF;
  END LOOP;
  IF ${at}append_one(${ONE.map((argument) => argument.split(" ")[0]).join(", ")}) THEN RETURN 'taken'; END IF;
  RETURN 'unsure';
END $body$`,
];
