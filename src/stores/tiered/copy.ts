import { hmac } from "../../core/hash.ts";
import { claimAfter, UNCLAIMED } from "../../core/store/claim.ts";
import type { Append, Drop, Entry, StoreIdentity } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";

/** A copy of a run's journal from `from` on, with the known blobs, as of (epoch, seq, head). */
export interface Copy {
  readonly epoch: number;
  readonly seq: number;
  readonly head: string;
  /** The position of its first entry. */
  readonly from: number;
  readonly entries: Entry[];
  readonly blobs: Map<string, string>;
  /** Its approximate size in characters. */
  readonly size: number;
}

/** The one condition for using a copy: it is at the run's current position in the primary. */
export const isCurrent = ({ epoch, seq, head }: Copy, row: RunRow): boolean =>
  row.claim.epoch === epoch && row.seq === seq && row.head === head;

export function copyOf(row: RunRow, entries: readonly Entry[]): Copy | null {
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last || last.seq + last.count - 1 !== row.seq) return null;
  const { claim, seq, head } = row;
  return {
    epoch: claim.epoch,
    seq,
    head,
    from: first.seq,
    entries: [...entries],
    blobs: new Map(),
    size: sizeOf(entries),
  };
}

/** The copy after a run's first append. */
export const begun = (append: Append): Copy =>
  extended(
    { epoch: UNCLAIMED.epoch, seq: 0, head: "", from: 1, entries: [], blobs: new Map(), size: 0 },
    append,
  );

/**
 * The copy after an append that the primary accepted at this copy's position. The new copy shares and extends the old
 * one's collections instead of copying them with every append, so the old copy must not be used any more.
 */
export function extended(copy: Copy, append: Append): Copy {
  const { claim } = append;
  const { entries, blobs } = append.drop ? without(copy, append.drop) : copy;
  for (const { hash, data } of append.blobs) if (!blobs.has(hash)) blobs.set(hash, data);
  const added = append.entries.map(({ seq, count, head, data }) => ({ seq, count, head, data }));
  for (const entry of added) entries.push(entry);
  const last = added.at(-1);
  return {
    epoch: claimAfter({ ...UNCLAIMED, epoch: copy.epoch }, claim, 0).epoch,
    seq: last ? last.seq + last.count - 1 : copy.seq,
    head: append.head,
    from: copy.from,
    entries,
    blobs,
    size: copy.size + sizeOf(added) + append.blobs.reduce((sum, { data }) => sum + data.length, 0),
  };
}

function without(copy: Copy, drop: Drop): Pick<Copy, "entries" | "blobs"> {
  const gone = new Set(drop.entries);
  const entries = copy.entries.map((one) => (gone.has(one.seq) ? { ...one, data: null } : one));
  const blobs = new Map(copy.blobs);
  for (const hash of drop.blobs) blobs.delete(hash);
  return { entries, blobs };
}

/**
 * True when the append was made directly on top of this copy. Comparing the position alone isn't enough: the primary
 * may have been restored to an older state and continued from there.
 */
export function follows(append: Append, { seq, head }: Copy): boolean {
  if (append.expect?.seq !== seq) return false;
  try {
    return (JSON.parse(append.entries[0]?.head ?? "") as { readonly p?: unknown }).p === head;
  } catch {
    return false;
  }
}

export const withBlobs = (copy: Copy, found: ReadonlyMap<string, string>): Copy => ({
  ...copy,
  blobs: new Map([...copy.blobs, ...found]),
  size: copy.size + [...found.values()].reduce((sum, data) => sum + data.length, 0),
});

/** The entries as the store would return them; `null` when the copy begins too late. */
export function entriesFrom(copy: Copy, from: number, limit: number): readonly Entry[] | null {
  if (from < copy.from) return null;
  let [low, high] = [0, copy.entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { seq, count } = copy.entries[middle] as Entry;
    if (seq + count > from) high = middle;
    else low = middle + 1;
  }
  return copy.entries.slice(low, low + limit);
}

const FORMAT = 1;

/** The header of a serialized copy. The texts follow unescaped, so that nothing else needs parsing. */
interface Header {
  readonly format: number;
  readonly runId: string;
  readonly incarnation: string;
  readonly epoch: number;
  readonly seq: number;
  readonly head: string;
  readonly from: number;
  /** Position, count, length of the head, length of the data or -1. */
  readonly entries: readonly (readonly [seq: number, count: number, head: number, data: number])[];
  readonly blobs: readonly (readonly [hash: string, data: number])[];
}

/** Signs a copy with the primary's secret, so that a modified or foreign text isn't accepted as a copy. */
export function seal(copy: Copy, runId: string, { incarnation, secret }: StoreIdentity): string {
  const { epoch, seq, head, from, entries, blobs } = copy;
  const header: Header = {
    format: FORMAT,
    runId,
    incarnation,
    epoch,
    seq,
    head,
    from,
    entries: entries.map((one) => [one.seq, one.count, one.head.length, one.data?.length ?? -1]),
    blobs: [...blobs].map(([hash, data]) => [hash, data.length]),
  };
  const texts = [MARK, JSON.stringify(header), "\n"];
  for (const one of entries) texts.push(one.head, one.data ?? "");
  texts.push(...blobs.values());
  const body = texts.join("");
  return `${hmac(secret, body)}\n${body}`;
}

/** Returns `null` for anything but a copy of this run made for this primary. */
export function unseal(text: string, runId: string, { incarnation, secret }: StoreIdentity): Copy | null {
  const end = text.indexOf("\n");
  const body = text.slice(end + 1);
  if (end < 0 || !body.startsWith(MARK) || text.slice(0, end) !== hmac(secret, body)) return null;
  let at = body.indexOf("\n", MARK.length) + 1;
  const header = JSON.parse(body.slice(MARK.length, at)) as Header;
  if (header.format !== FORMAT || header.runId !== runId || header.incarnation !== incarnation) return null;
  const next = (length: number): string => body.slice(at, (at += length));
  const { epoch, seq, head, from } = header;
  const entries = header.entries.map(([first, count, line, data]) => ({
    seq: first,
    count,
    head: next(line),
    data: data < 0 ? null : next(data),
  }));
  const blobs = new Map(header.blobs.map(([hash, length]) => [hash, next(length)]));
  return { epoch, seq, head, from, entries, blobs, size: body.length };
}

/** The secret also derives idempotency keys; none of their inputs begins with this text. */
const MARK = "holdfast cached copy\n";

const sizeOf = (entries: readonly Entry[]): number =>
  entries.reduce((sum, { head, data }) => sum + head.length + (data?.length ?? 0), 0);
