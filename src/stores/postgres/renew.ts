import type { Renewal } from "../../core/store.ts";
import type { RunRow } from "../../core/types.ts";
import type { Queryable } from "./queryable.ts";
import { rowOf, toRow } from "./rows.ts";
import { CLOCK } from "./statement.ts";

/** Locks in the same order as appends do, so that the two never wait for each other in a circle. */
const renewal = (at: string): string => `WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1::json)
    AS input (i integer, "runId" text, epoch bigint, token text, "ttlMs" double precision)
), found AS MATERIALIZED (
  SELECT n, id, epoch, token FROM ${at}runs WHERE id = ANY ($2::text[]) ORDER BY id FOR NO KEY UPDATE
)
UPDATE ${at}runs AS run SET claim_until = ${CLOCK} + input."ttlMs"
FROM input JOIN found ON found.id = input."runId" AND found.epoch = input.epoch AND found.token = input.token
WHERE run.n = found.n RETURNING input.i, ${rowOf("run")}`;

/** Of several renewals of one claim the last one stands, as if they had come one after the other. */
export async function renewBatch(
  one: Queryable,
  at: string,
  batch: readonly Renewal[],
): Promise<readonly (RunRow | null)[]> {
  if (batch.length === 0) return [];
  const keys = batch.map(({ runId, epoch, token }) => JSON.stringify([runId, epoch, token]));
  const input = new Map(keys.map((key, i) => [key, { i, ...batch[i] }]));
  const values = [JSON.stringify([...input.values()]), batch.map(({ runId }) => runId)];
  const renewed = new Map<string | undefined, RunRow>();
  for (const [i, ...row] of await one.query(renewal(at), values)) renewed.set(keys[Number(i)], toRow(row));
  return keys.map((key) => renewed.get(key) ?? null);
}
