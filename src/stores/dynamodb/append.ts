import { randomUUID } from "node:crypto";
import { refusal, UNCLAIMED } from "../../core/store/claim.ts";
import type { Append, AppendResult, ClaimChange, Entry } from "../../core/store/contract.ts";
import type { Claim } from "../../core/types.ts";
import { additions, type Change, grouped, isPosition, removals, toWrite } from "./changes.ts";
import { cancellation } from "./errors.ts";
import { blobKey, entryKey, operationAt, runKey } from "./keys.ts";
import { each, readItems } from "./reading.ts";
import { rowChanged, rowCreated, toRow } from "./rows.ts";
import type { Item, Service } from "./service.ts";
import { settledRow, stage, sweep, unstage } from "./staged.ts";

const AT_ONCE = 16;

/** Each append is a transaction of its own. Those of one run go one after the other, in their order. */
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
    const result = isPlain(append)
      ? await plain(service, now(), append)
      : await planned(service, now(), append);
    if (result) return result;
    // The run had an operation left over, which comes first.
    await settledRow(service, append.run.id);
  }
}

/** What it writes is known without a look at the run, which is so for most appends. */
const isPlain = ({ expect, claim, drop }: Append): boolean =>
  !drop &&
  !(claim.kind === "hold" && expect?.token === null) &&
  !(claim.kind === "release" && claim.epoch !== undefined);

/** The same change in terms that need no look at the claim it is made to. */
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

/** Looks at the run first. What it finds stays true, or the position that the commit depends on has changed. */
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

/** The items that the append takes something from, by sort key. */
async function dropped(service: Service, { run, drop }: Append): Promise<ReadonlyMap<string, Item>> {
  if (!drop) return new Map();
  const pk = runKey(run.id);
  const sks = [...drop.entries.filter(isPosition).map(entryKey), ...drop.blobs.map(blobKey)];
  const keys = sks.map((sk) => ({ pk, sk }));
  const items = await readItems(service, keys, ["sk", "dataParts"]);
  return new Map(items.map((item) => [item["sk"]?.S ?? "", item]));
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
  // What is left undone here is done by the next one to come to the run.
  if (result?.ok) await settledRow(service, id).catch(ignore);
  else await unstage(service, id, redo).catch(ignore);
  return result;
}

const ignore = (): void => undefined;

/**
 * One transaction; `null` when the run has an operation left over. The token belongs to this one attempt: the
 * client and the loop around it may send it again and again, and it is done once. It is not made from the append, which
 * must be refused when it comes a second time.
 */
async function commit(
  service: Service,
  now: number,
  append: Append,
  { changes, redo }: { readonly changes: readonly Change[]; readonly redo?: string },
): Promise<AppendResult | null> {
  const row = append.expect === null ? rowCreated : rowChanged;
  const writes = changes.map((change) => toWrite(service.table, change));
  const TransactItems = [row(service.table, append, now, redo), ...writes];
  try {
    await service.transact({ ClientRequestToken: randomUUID(), TransactItems });
    return { ok: true };
  } catch (error) {
    const [met] = cancellation(error) ?? [];
    if (met?.Code !== "ConditionalCheckFailed") throw error;
    const found = met.Item ? toRow(met.Item) : null;
    const reason = refusal(append, found, now);
    return reason && { ok: false, reason, row: found };
  }
}
