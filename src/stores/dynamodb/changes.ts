import type { Append } from "../../core/store/contract.ts";
import { Expression } from "./expression.ts";
import { ageKey, blobKey, CHILD, entryKey, runKey, toItem } from "./keys.ts";
import type { Item, Value, Write } from "./service.ts";
import { DATA_FIELDS, partKeys, recordsOf } from "./texts.ts";

/** One item that an append writes, strips of its data, or deletes. An append never changes an item twice. */
export interface Change {
  readonly kind: "put" | "strip" | "delete";
  readonly pk: string;
  readonly sk: string;
  /** The attributes of a put, without the key. */
  readonly item: Item;
  readonly bytes: number;
}

/** Limits of one transaction. Part of the 4 MB is reserved for the row. */
const MOST_ITEMS = 100;
const MOST_BYTES = 3_500_000;

/** The approximate cost of changing an item that isn't rewritten. */
const TOUCHED = 1_000;

/** The items that the append adds: its entries, its blobs, and the link from its parent. */
export function additions({ run, expect, entries, blobs }: Append): Change[] {
  const pk = runKey(run.id);
  const put = ({ sk, item, bytes }: ReturnType<typeof recordsOf>[number], at = pk): Change => ({
    kind: "put",
    pk: at,
    sk,
    item,
    bytes,
  });
  const unique = new Map(blobs.map((blob) => [blob.hash, blob]));
  const changes = [
    ...entries.flatMap(({ seq, count, head, data }) =>
      recordsOf(entryKey(seq), { head, data }, { seq: whole(seq), count: whole(count) }),
    ),
    ...[...unique.values()].flatMap(({ hash, data }) => recordsOf(blobKey(hash), { data })),
  ].map((record) => put(record));
  if (expect !== null || run.parent === null) return changes;
  const child = recordsOf(`${CHILD}${ageKey(run)}`, { child: run.id });
  return [...changes, ...child.map((record) => put(record, runKey(run.parent?.runId ?? "")))];
}

export const deletion = (pk: string, sk: string): Change => ({
  kind: "delete",
  pk,
  sk,
  item: {},
  bytes: TOUCHED,
});

/** The changes that remove data, given the items that the append names. What the append adds itself stays. */
export function removals(
  { run, drop }: Append,
  found: ReadonlyMap<string, Item>,
  added: readonly Change[],
): Change[] {
  if (!drop) return [];
  const pk = runKey(run.id);
  const strip = (sk: string): Change => ({ ...deletion(pk, sk), kind: "strip" });
  const remove = (sk: string): Change => deletion(pk, sk);
  const kept = new Set(added.map(({ sk }) => sk));
  const own = (sk: string): [string, Item][] => {
    const item = found.get(sk);
    return item && !kept.has(sk) ? [[sk, item]] : [];
  };
  const entries = [...new Set(drop.entries)].filter(isPosition).flatMap((seq) => own(entryKey(seq)));
  const blobs = [...new Set(drop.blobs)].flatMap((hash) => own(blobKey(hash)));
  return [
    ...entries.map(([sk]) => strip(sk)),
    ...blobs.map(([sk]) => remove(sk)),
    ...[...entries, ...blobs].flatMap(([sk, item]) => partKeys(sk, item, "data")).map(remove),
  ];
}

export const isPosition = (seq: number): boolean => Number.isSafeInteger(seq) && seq >= 0;

const whole = (n: number): Value => ({ N: String(n) });

/** Splits changes into groups that each fit into one transaction with one item to spare. */
export function grouped(
  changes: readonly Change[],
  most = { items: MOST_ITEMS - 1, bytes: MOST_BYTES },
): Change[][] {
  const groups: Change[][] = [];
  let bytes = 0;
  for (const change of changes) {
    const last = groups.at(-1);
    bytes += change.bytes;
    if (last && last.length < most.items && bytes <= most.bytes) last.push(change);
    else {
      groups.push([change]);
      bytes = change.bytes;
    }
  }
  return groups;
}

export function toWrite(TableName: string, { kind, pk, sk, item }: Change): Write {
  const Key = toItem({ pk, sk });
  if (kind === "put") return { Put: { TableName, Item: { ...Key, ...item } } };
  if (kind === "delete") return { Delete: { TableName, Key } };
  const expression = new Expression();
  for (const field of DATA_FIELDS) expression.set(field, undefined);
  return { Update: { TableName, Key, UpdateExpression: expression.update, ...expression.attributes } };
}

/** Converts a change to an attribute value, and back. */
export const toValue = ({ kind, pk, sk, item, bytes }: Change): Value => ({
  M: { kind: { S: kind }, pk: { S: pk }, sk: { S: sk }, item: { M: item }, bytes: whole(bytes) },
});

export function fromValue(value: Value): Change {
  const { kind, pk, sk, item, bytes } = value.M ?? {};
  return {
    kind: kind?.S as Change["kind"],
    pk: pk?.S ?? "",
    sk: sk?.S ?? "",
    item: item?.M ?? {},
    bytes: Number(bytes?.N),
  };
}
