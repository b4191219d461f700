import { randomUUID } from "node:crypto";
import { type Change, fromValue, grouped, toValue, toWrite } from "./changes.ts";
import { cancellation, isNamed } from "./errors.ts";
import { Expression } from "./expression.ts";
import { rowKey, runKey, stagedKey, stagedUpTo, toItem } from "./keys.ts";
import { each, readItem, readRange } from "./reading.ts";
import { redoOf, toRow, whileRedo } from "./rows.ts";
import type { Item, Service } from "./service.ts";

/**
 * Appends that are too large for one transaction. All that they will change is written down first, beside the run, where
 * nobody looks. Then one write of the row commits the append and names that operation. From then on it is carried out,
 * by whoever comes first: the writer, or the next one to read or write the run; each transaction of it only goes through
 * as long as the row names the operation, so that a helper who comes late changes nothing. Nobody sees half of it.
 *
 * What was written down and not committed is never looked at. It is deleted with the next operation of that run, by its
 * position: whatever was to be written at positions that are taken can never be committed.
 */
const STAGED = { items: 1_000, bytes: 300_000 };
const AT_ONCE = 8;

/** Writes down what the operation will change. */
export async function stage(
  service: Service,
  id: string,
  operation: string,
  changes: readonly Change[],
): Promise<void> {
  const groups = grouped(changes, STAGED).map((group, n) => ({ group, n }));
  await each(groups, AT_ONCE, ({ group, n }) => {
    const key = toItem({ pk: runKey(id), sk: stagedKey(operation, n) });
    return service.put({ Item: { ...key, changes: { L: group.map(toValue) } } });
  });
}

export async function unstage(service: Service, id: string, operation: string): Promise<void> {
  await removeRange(service, id, [stagedKey(operation, 0), `staged#${operation}$`]);
}

/** Deletes what was staged for positions that are taken. */
export const sweep = (service: Service, id: string, seq: number): Promise<void> =>
  removeRange(service, id, stagedUpTo(seq));

async function removeRange(service: Service, id: string, between: readonly [string, string]): Promise<void> {
  const found = await readRange(service, { pk: runKey(id), between });
  await each(found, AT_ONCE, ({ pk, sk }) => service.remove({ Key: { pk, sk } as Item }));
}

/** The run's row as it stands, with nothing left to be carried out; `null` when there is none. */
export async function settledRow(service: Service, id: string): Promise<Item | null> {
  for (;;) {
    const item = await readItem(service, rowKey(id));
    const redo = item && redoOf(item);
    if (!redo) return item;
    await carryOut(service, id, redo, toRow(item).seq);
  }
}

async function carryOut(service: Service, id: string, redo: string, seq: number): Promise<void> {
  const between = [stagedKey(redo, 0), `staged#${redo}$`] as const;
  const items = await readRange(service, { pk: runKey(id), between });
  const changes = items.flatMap(({ changes: list }) => (list?.L ?? []).map(fromValue));
  for (const group of grouped(changes)) {
    const writes = group.map((change) => toWrite(service.table, change));
    const condition = whileRedo(service.table, id, redo);
    try {
      await service.transact({ ClientRequestToken: randomUUID(), TransactItems: [condition, ...writes] });
    } catch (error) {
      if (cancellation(error)?.[0]?.Code === "ConditionalCheckFailed") return;
      throw error;
    }
  }
  if (await finish(service, id, redo)) await sweep(service, id, seq);
}

/** Whether it was this call that found the operation carried out. */
async function finish(service: Service, id: string, redo: string): Promise<boolean> {
  const expression = new Expression();
  expression.set("redo", undefined);
  try {
    await service.update({
      Key: toItem(rowKey(id)),
      UpdateExpression: expression.update,
      ConditionExpression: expression.compare("redo", "=", { S: redo }),
      ...expression.attributes,
    });
    return true;
  } catch (error) {
    if (isNamed(error, "ConditionalCheckFailedException")) return false;
    throw error;
  }
}
