import { setTimeout as delay } from "node:timers/promises";
import { defined } from "../../core/defined.ts";
import { Expression } from "./expression.ts";
import { type Key, toItem } from "./keys.ts";
import type { Item, Service } from "./service.ts";

const MOST_KEYS = 100;
const AT_ONCE = 8;
/** How often to ask again for keys that the service left unprocessed. */
const MOST_TRIES = 10;

/**
 * Runs `work` for each item, a few at a time, and returns the results in order. The first failure is thrown after all
 * have ended.
 */
export async function each<T, R>(
  all: readonly T[],
  atOnce: number,
  work: (one: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const failures: unknown[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < all.length && failures.length === 0) {
      const place = next++;
      try {
        results[place] = await work(all[place] as T);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, lane));
  if (failures.length > 0) throw failures[0];
  return results;
}

/** Reads the item consistently. */
export async function readItem(service: Service, key: Key): Promise<Item | null> {
  return (await service.get({ Key: toItem(key), ConsistentRead: true })).Item ?? null;
}

/** Reads the items that exist, consistently and in no particular order. */
export async function readItems(
  service: Service,
  keys: readonly Key[],
  only?: readonly string[],
): Promise<Item[]> {
  const unique = [...new Map(keys.map((key) => [JSON.stringify([key.pk, key.sk]), key])).values()];
  const groups = Array.from({ length: Math.ceil(unique.length / MOST_KEYS) }, (_, i) =>
    unique.slice(i * MOST_KEYS, (i + 1) * MOST_KEYS),
  );
  const expression = new Expression();
  const projection = only && {
    ProjectionExpression: only.map((name) => expression.name(name)).join(", "),
    ExpressionAttributeNames: expression.attributes.ExpressionAttributeNames,
  };
  const read = async (group: readonly Key[]): Promise<Item[]> => {
    const found: Item[] = [];
    let left: Item[] | undefined = group.map(toItem);
    for (let tries = 1; left && left.length > 0; tries++) {
      const answer = await service.batchGet({ Keys: left, ConsistentRead: true, ...projection });
      const items: Item[] = answer.Responses?.[service.table] ?? [];
      found.push(...items);
      left = answer.UnprocessedKeys?.[service.table]?.Keys;
      // A response holds at most 16 MB, so only an empty one means that the service lacked capacity.
      if (items.length > 0) tries = 0;
      else if (tries === MOST_TRIES) throw throttled();
      else if (left && left.length > 0) await delay(Math.random() * 10 * 2 ** tries);
    }
    return found;
  };
  return (await each(groups, AT_ONCE, read)).flat();
}

const throttled = (): Error =>
  Object.assign(new Error("The service did not answer for all keys."), { name: "ThrottlingException" });

export interface Range {
  readonly pk: string;
  /** The first and last sort key. */
  readonly between: readonly [string, string];
  readonly newestFirst?: boolean;
  readonly limit?: number;
}

/** Reads the items of a partition between these sort keys, consistently and in order. */
export async function readRange(
  service: Service,
  { pk, between, newestFirst, limit }: Range,
): Promise<Item[]> {
  const found: Item[] = [];
  const most = limit ?? Number.POSITIVE_INFINITY;
  const expression = new Expression();
  const condition = [expression.compare("pk", "=", { S: pk }), expression.between("sk", between)].join(
    " AND ",
  );
  for (let from: Item | undefined; ; ) {
    const { Items = [], LastEvaluatedKey } = await service.query({
      KeyConditionExpression: condition,
      ...expression.attributes,
      ConsistentRead: true,
      ScanIndexForward: newestFirst !== true,
      ...(Number.isFinite(most) ? { Limit: most - found.length } : {}),
      ...defined({ ExclusiveStartKey: from }),
    });
    found.push(...Items);
    from = LastEvaluatedKey;
    if (!from || found.length >= most) return found;
  }
}
