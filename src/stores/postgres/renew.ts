import type { Renewal } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { otherStore } from "../other-store.ts";
import type { Writing } from "./append.ts";
import { isSame, type Opened } from "./migrations.ts";
import type { Queryable } from "./queryable.ts";
import { rowOf, toRow } from "./rows.ts";
import { CLOCK, type Statement, statement } from "./statement.ts";

/** Locks in the same order as appends, so that the two never deadlock. */
const renewal = (at: string, opened: Opened, batch: readonly object[], runs: readonly string[]): Statement =>
  statement(
    (bind) => `WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset(${bind(JSON.stringify(batch), "json")})
    AS input (i integer, "runId" text, epoch bigint, token text, "ttlMs" double precision)
), found AS MATERIALIZED (
  SELECT n, id, epoch, token FROM ${at}runs WHERE id = ANY (${bind(runs, "text[]")}) ORDER BY id FOR NO KEY UPDATE
), renewed AS (
UPDATE ${at}runs AS run SET claim_until = ${CLOCK} + input."ttlMs"
FROM input JOIN found ON found.id = input."runId" AND found.epoch = input.epoch AND found.token = input.token
WHERE run.n = found.n AND ${isSame(at, opened, bind)} RETURNING input.i, run.*
)
SELECT renewed.i, ${rowOf("renewed")} FROM (SELECT ${isSame(at, opened, bind)} AS same) AS store
LEFT JOIN renewed ON store.same WHERE NOT store.same OR renewed.i IS NOT NULL`,
  );

/** Of several renewals of one claim, the last one counts, as if they had come one after another. */
export async function renewBatch(
  one: Queryable,
  { at, name, opened }: Writing,
  batch: readonly Renewal[],
): Promise<readonly (RunRow | null)[]> {
  if (batch.length === 0) return [];
  const keys = batch.map(({ runId, epoch, token }) => JSON.stringify([runId, epoch, token]));
  const input = new Map(keys.map((key, i) => [key, { i, ...batch[i] }]));
  const runs = batch.map(({ runId }) => runId);
  const { text, values } = renewal(at, opened, [...input.values()], runs);
  const renewed = new Map<string | undefined, RunRow>();
  for (const [i, ...row] of await one.query(text, values)) {
    if (i === null || i === undefined) throw otherStore(name);
    renewed.set(keys[Number(i)], toRow(row));
  }
  return keys.map((key) => renewed.get(key) ?? null);
}
