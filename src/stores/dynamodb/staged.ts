import { randomUUID } from "node:crypto";
import { type Change, deletion, fromValue, grouped, toValue, toWrite } from "./changes.ts";
import { cancellation, isNamed } from "./errors.ts";
import { Expression } from "./expression.ts";
import { ageKey, CHILD, rowKey, runKey, stagedKey, stagedUpTo, toItem } from "./keys.ts";
import { each, readItem, readRange } from "./reading.ts";
import { isErased, redoOf, toRow, whileRedo } from "./rows.ts";
import type { Item, Service } from "./service.ts";

/**
 * Handles appends that are too large for one transaction. All changes are first written beside the run, where no reader
 * looks. Then one write of the row commits the append and names that operation. From then on the writer, or the next
 * caller that reads or writes the run, carries it out. Each of its transactions requires that the row still names the
 * operation, so a late helper changes nothing and no reader sees half of it.
 *
 * Staged changes that were never committed are never read. The run's next operation deletes them by position: a change
 * staged for a position that is taken can't be committed any more.
 */
const STAGED = { items: 1_000, bytes: 300_000 };
const AT_ONCE = 8;

/** Stages the changes of the operation. */
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

/** Deletes everything staged for positions that are taken. */
export const sweep = (service: Service, id: string, seq: number): Promise<void> =>
  removeRange(service, id, stagedUpTo(seq));

async function removeRange(service: Service, id: string, between: readonly [string, string]): Promise<void> {
  const found = await readRange(service, { pk: runKey(id), between });
  await each(found, AT_ONCE, ({ pk, sk }) => service.remove({ Key: { pk, sk } as Item }));
}

/** The run's row after any unfinished operation has been carried out, or `null` when the run doesn't exist. */
export async function settledRow(service: Service, id: string): Promise<Item | null> {
  for (;;) {
    const item = await readItem(service, rowKey(id));
    const redo = item && redoOf(item);
    if (!redo) return item;
    if (isErased(item)) await carryOutErasure(service, id, item);
    else await carryOut(service, id, redo, toRow(item).seq);
  }
}

async function carryOut(service: Service, id: string, redo: string, seq: number): Promise<void> {
  const between = [stagedKey(redo, 0), `staged#${redo}$`] as const;
  const items = await readRange(service, { pk: runKey(id), between });
  const changes = items.flatMap(({ changes: list }) => (list?.L ?? []).map(fromValue));
  if (!(await apply(service, id, redo, changes))) return;
  if (await finish(service, id, redo)) await sweep(service, id, seq);
}

/** Everything in a run's partition but its row and the links to its children, which are deleted with them. */
const CONTENTS = ["blob#", "entry#", "part#", "staged#"];

/** The row goes last: until then every deletion requires it, so that a late helper never touches a new run. */
async function carryOutErasure(service: Service, id: string, row: Item): Promise<void> {
  const redo = redoOf(row) ?? "";
  const gone = ({ pk, sk }: Item): Change => deletion(pk?.S ?? "", sk?.S ?? "");
  for (const prefix of CONTENTS) {
    const between = [prefix, `${prefix.slice(0, -1)}$`] as const;
    const items = await readRange(service, { pk: runKey(id), between });
    if (!(await apply(service, id, redo, items.map(gone)))) return;
  }
  const { parent, createdAt } = toRow(row);
  const links = parent ? [deletion(runKey(parent.runId), `${CHILD}${ageKey({ createdAt, id })}`)] : [];
  if (await apply(service, id, redo, links)) await removeRow(service, id, redo);
}

async function removeRow(service: Service, id: string, redo: string): Promise<void> {
  const expression = new Expression();
  const ConditionExpression = expression.compare("redo", "=", { S: redo });
  try {
    await service.remove({ Key: toItem(rowKey(id)), ConditionExpression, ...expression.attributes });
  } catch (error) {
    if (!isNamed(error, "ConditionalCheckFailedException")) throw error;
  }
}

/** Applies changes while the row names the operation; returns `false` when it no longer does. */
async function apply(
  service: Service,
  id: string,
  redo: string,
  changes: readonly Change[],
): Promise<boolean> {
  for (const group of grouped(changes)) {
    const writes = group.map((change) => toWrite(service.table, change));
    const condition = whileRedo(service.table, id, redo);
    try {
      await service.transact({ ClientRequestToken: randomUUID(), TransactItems: [condition, ...writes] });
    } catch (error) {
      if (cancellation(error)?.[0]?.Code === "ConditionalCheckFailed") return false;
      throw error;
    }
  }
  return true;
}

/** True when this call finished the operation. */
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
