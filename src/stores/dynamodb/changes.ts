import type { Append } from "../../core/store/contract.ts";
import { Expression } from "./expression.ts";
import { ageKey, blobKey, CHILD, entryKey, runKey, toItem } from "./keys.ts";
import type { Item, Value, Write } from "./service.ts";
import { DATA_FIELDS, partKeys, recordsOf } from "./texts.ts";

/** One item that an append writes, strips of its data, or deletes. No two changes of an append are of the same item. */
export interface Change {
  readonly kind: "put" | "strip" | "delete";
  readonly pk: string;
  readonly sk: string;
  /** Of a put, without its key. */
  readonly item: Item;
  readonly bytes: number;
}

/** What one transaction may hold at most; of the 4 MB some are left for the row. */
const MOST_ITEMS = 100;
const MOST_BYTES = 3_500_000;

/** About what a change of an item costs that is not written anew. */
const TOUCHED = 1_000;

/** What the append adds: its entries, its blobs, and the note with its parent. */
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

/** What the append takes away, given the items that it names; what it adds itself stays. */
export function removals(
  { run, drop }: Append,
  found: ReadonlyMap<string, Item>,
  added: readonly Change[],
): Change[] {
  if (!drop) return [];
  const pk = runKey(run.id);
  const change =
    (kind: "strip" | "delete") =>
    (sk: string): Change => ({ kind, pk, sk, item: {}, bytes: TOUCHED });
  const kept = new Set(added.map(({ sk }) => sk));
  const own = (sk: string): [string, Item][] => {
    const item = found.get(sk);
    return item && !kept.has(sk) ? [[sk, item]] : [];
  };
  const entries = [...new Set(drop.entries)].filter(isPosition).flatMap((seq) => own(entryKey(seq)));
  const blobs = [...new Set(drop.blobs)].flatMap((hash) => own(blobKey(hash)));
  return [
    ...entries.map(([sk]) => change("strip")(sk)),
    ...blobs.map(([sk]) => change("delete")(sk)),
    ...[...entries, ...blobs].flatMap(([sk, item]) => partKeys(sk, item, "data")).map(change("delete")),
  ];
}

export const isPosition = (seq: number): boolean => Number.isSafeInteger(seq) && seq >= 0;

const whole = (n: number): Value => ({ N: String(n) });

/** Groups that fit into one transaction each, beside one item more. */
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

/** A change as a value of an item, and back. */
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
