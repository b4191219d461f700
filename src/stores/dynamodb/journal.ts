import { HoldfastError } from "../../core/errors.ts";
import type { Entry } from "../../core/store/contract.ts";
import { blobKey, entryKey, type Key, runKey } from "./keys.ts";
import { readItems, readRange } from "./reading.ts";
import { toRow } from "./rows.ts";
import type { Item, Service } from "./service.ts";
import { settledRow } from "./staged.ts";
import { partKeys, textOf } from "./texts.ts";

/** How often to reread a value that was dropped during the read. */
const MOST_TRIES = 5;

const skOf = (item: Item): string => item["sk"]?.S ?? "";

/** The parts of these items, by sort key. */
async function partsOf(
  service: Service,
  pk: string,
  items: readonly Item[],
  fields: readonly string[],
): Promise<ReadonlyMap<string, Item>> {
  const sks = items.flatMap((item) => fields.flatMap((field) => partKeys(skOf(item), item, field)));
  const keys = sks.map((sk): Key => ({ pk, sk }));
  return new Map((await readItems(service, keys)).map((item) => [skOf(item), item]));
}

/** Repeats `read` until no value was dropped during it. */
async function untorn<T>(read: () => Promise<T | null>): Promise<T> {
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const value = await read();
    if (value !== null) return value;
  }
  throw new HoldfastError("HF-3011", { problem: "a part of it is missing" });
}

export function readEntries(
  service: Service,
  runId: string,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<readonly Entry[]> {
  const pk = runKey(runId);
  return untorn(async () => {
    const row = await settledRow(service, runId);
    const end = row ? toRow(row).seq : -1;
    const start = Math.max(0, Math.ceil(from));
    if (start > end) return [];
    const items = await itemsFrom(service, pk, { start, end, limit });
    const parts = await partsOf(service, pk, items, ["head", "data"]);
    const entries = items.map((item) => toEntry(item, parts));
    return entries.includes(null) ? null : (entries as Entry[]);
  });
}

/** Starts with the item that contains the position, which may begin before it. */
async function itemsFrom(
  service: Service,
  pk: string,
  { start, end, limit }: { readonly start: number; readonly end: number; readonly limit: number },
): Promise<Item[]> {
  const before = [entryKey(0), entryKey(start)] as const;
  const items = await readRange(service, { pk, between: before, newestFirst: true, limit: 1 });
  const first = items.filter((item) => Number(item["seq"]?.N) + Number(item["count"]?.N) > start);
  if (first.length === limit || start >= end) return first;
  const after = [entryKey(start + 1), entryKey(end)] as const;
  return [...first, ...(await readRange(service, { pk, between: after, limit: limit - first.length }))];
}

function toEntry(item: Item, parts: ReadonlyMap<string, Item>): Entry | null {
  const [head, data] = ["head", "data"].map((field) => textOf(skOf(item), item, field, parts));
  if (typeof head !== "string" || data === undefined) return null;
  return { seq: Number(item["seq"]?.N), count: Number(item["count"]?.N), head, data };
}

export function readBlobs(
  service: Service,
  runId: string,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const pk = runKey(runId);
  return untorn(async () => {
    if (hashes.length === 0 || !(await settledRow(service, runId))) return new Map();
    const keys = hashes.map((hash): Key => ({ pk, sk: blobKey(hash) }));
    const items = await readItems(service, keys);
    const parts = await partsOf(service, pk, items, ["data"]);
    const found = items.map((item): [string, string | null | undefined] => {
      const sk = skOf(item);
      return [sk.slice(blobKey("").length), textOf(sk, item, "data", parts)];
    });
    return found.some(([, data]) => data === undefined) ? null : new Map(found as [string, string][]);
  });
}
