import { randomUUID } from "node:crypto";
import { refusal, UNCLAIMED } from "../../core/store/claim.ts";
import type { Append, AppendResult, ClaimChange, Entry } from "../../core/store/contract.ts";
import type { Claim } from "../../core/types.ts";
import { additions, type Change, grouped, isPosition, removals, toWrite } from "./changes.ts";
import { cancellation } from "./errors.ts";
import { blobKey, entryKey, operationAt, runKey } from "./keys.ts";
import { each, readItems } from "./reading.ts";
import { erasureNamed, isErased, rowChanged, rowCreated, rowErased, toRow } from "./rows.ts";
import type { Item, Service, Write } from "./service.ts";
import { settledRow, stage, sweep, unstage } from "./staged.ts";

const AT_ONCE = 16;

/** Each append is its own transaction. Appends to the same run are sent one after another, in order. */
export async function appendBatch(
  service: Service,
  now: () => number,
  batch: readonly Append[],
): Promise<readonly AppendResult[]> {
  const places = new Map<string, number[]>();
  batch.forEach(({ run }, place) => places.set(run.id, [...(places.get(run.id) ?? []), place]));
  const results: AppendResult[] = [];
  await each([...places.values()], AT_ONCE, async (ofOneRun) => {
    for (const place of ofOneRun) results[place] = await appendOne(service, now, batch[place] as Append);
  });
  return results;
}

async function appendOne(service: Service, now: () => number, append: Append): Promise<AppendResult> {
  for (;;) {
    const send = append.claim.kind === "erase" ? erase : isPlain(append) ? plain : planned;
    const result = await send(service, now(), append);
    if (result) return result;
    // The run has an unfinished operation, which must be carried out first.
    await settledRow(service, append.run.id);
  }
}

/** True when the writes can be computed without reading the run, as for most appends. */
const isPlain = ({ expect, claim, drop }: Append): boolean =>
  !drop &&
  !(claim.kind === "hold" && expect?.token === null) &&
  !(claim.kind === "release" && claim.epoch !== undefined);

/** Rewrites the change so that it no longer depends on the current claim. */
function resolved(change: ClaimChange, claim: Claim): ClaimChange {
  if (change.kind === "hold" && claim.token === null) return { kind: "keep" };
  if (change.kind !== "release" || change.epoch === undefined) return change;
  return { kind: "release", epoch: Math.max(claim.epoch, change.epoch) };
}

async function plain(service: Service, now: number, append: Append): Promise<AppendResult | null> {
  const changes = additions(append);
  if (grouped(changes).length > 1) return planned(service, now, append);
  return commit(service, now, append, { changes });
}

/** Reads the run first. If what was read is no longer true, the position that the commit depends on has changed too. */
async function planned(service: Service, now: number, append: Append): Promise<AppendResult | null> {
  const { id } = append.run;
  const item = await settledRow(service, id);
  const row = item && toRow(item);
  const reason = refusal(append, row, now);
  if (reason) return { ok: false, reason, row };
  const added = additions(append);
  const changes = [...added, ...removals(append, await dropped(service, append), added)];
  const known: Append = { ...append, claim: resolved(append.claim, row?.claim ?? UNCLAIMED) };
  if (grouped(changes).length > 1) return staged(service, now, known, changes);
  const result = await commit(service, now, known, { changes });
  if (result?.ok && row) await sweep(service, id, row.seq).catch(ignore);
  return result;
}

/** The items that the append removes data from, by sort key. */
async function dropped(service: Service, { run, drop }: Append): Promise<ReadonlyMap<string, Item>> {
  if (!drop) return new Map();
  const pk = runKey(run.id);
  const sks = [...drop.entries.filter(isPosition).map(entryKey), ...drop.blobs.map(blobKey)];
  const keys = sks.map((sk) => ({ pk, sk }));
  const items = await readItems(service, keys, ["sk", "dataParts"]);
  return new Map(items.map((item) => [item["sk"]?.S ?? "", item]));
}

/** One write of the row commits it: from then on the run is gone for every reader. The rest is deleted after that. */
async function erase(service: Service, now: number, append: Append): Promise<AppendResult | null> {
  const { id } = append.run;
  const result = await commit(service, now, append, { changes: [], redo: erasureNamed(randomUUID()) });
  if (result?.ok) await settledRow(service, id).catch(ignore);
  return result;
}

async function staged(
  service: Service,
  now: number,
  append: Append,
  changes: readonly Change[],
): Promise<AppendResult | null> {
  const { id } = append.run;
  const redo = operationAt((append.entries[0] as Entry).seq, randomUUID());
  await stage(service, id, redo, changes);
  const result = await commit(service, now, append, { changes: [], redo });
  // Whatever stays unfinished here is finished by the next caller that touches the run.
  if (result?.ok) await settledRow(service, id).catch(ignore);
  else await unstage(service, id, redo).catch(ignore);
  return result;
}

function rowWritten(table: string, append: Append, now: number, redo?: string): Write {
  if (append.claim.kind === "erase") return rowErased(table, append, redo ?? "");
  return (append.expect === null ? rowCreated : rowChanged)(table, append, now, redo);
}

const ignore = (): void => undefined;

/**
 * Sends one transaction; returns `null` when the run has an unfinished operation. The token belongs to this attempt:
 * the client and the surrounding loop may send it repeatedly, and it takes effect once. It isn't derived from the
 * append, because a second identical append must be refused.
 */
async function commit(
  service: Service,
  now: number,
  append: Append,
  { changes, redo }: { readonly changes: readonly Change[]; readonly redo?: string },
): Promise<AppendResult | null> {
  const writes = changes.map((change) => toWrite(service.table, change));
  const TransactItems = [rowWritten(service.table, append, now, redo), ...writes];
  try {
    await service.transact({ ClientRequestToken: randomUUID(), TransactItems });
    return { ok: true };
  } catch (error) {
    const [met] = cancellation(error) ?? [];
    if (met?.Code !== "ConditionalCheckFailed") throw error;
    if (met.Item && isErased(met.Item)) return null;
    const found = met.Item ? toRow(met.Item) : null;
    const reason = refusal(append, found, now);
    return reason && { ok: false, reason, row: found };
  }
}
