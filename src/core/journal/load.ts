import type { Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import { missingValue } from "./door.ts";
import type { JournalEvent } from "./events.ts";
import { addUp, ChainCheck, damaged, type OutlinedEntry, type ParsedEntry } from "./journal.ts";
import { restoredPages, wholePages } from "./outlines.ts";
import { eventAt } from "./read.ts";
import type { RowFold } from "./row-fold.ts";
import { restoreSnapshot, type Snapshot } from "./snapshot.ts";
import { RunState } from "./state.ts";
import { UnreadValues } from "./unread.ts";
import { isUnreadable } from "./unreadable.ts";
import type { Values } from "./values.ts";

export { lastEvent } from "./door.ts";
export { MOST_KEPT } from "./outlines.ts";
export { isKeyAway, isUnreadable } from "./unreadable.ts";

/**
 * Restores a run: the newest snapshot and the tail after it, checked against the chain; or, with `upTo`, the state at
 * an earlier position. A damaged snapshot is skipped for the one before it, and finally for the whole journal, unless
 * `fallback` is off; a damaged journal is an error, never a fresh start.
 */
export async function loadRun(
  store: Store,
  values: Values,
  row: RunRow,
  upTo: number = row.seq,
  { fallback = true, fold, keeps }: LoadOptions = {},
): Promise<RunState> {
  for await (const seq of snapshots(store, row)) {
    if (seq > upTo) continue;
    try {
      return await loadFrom(store, values, row, { from: seq, upTo, fold, keeps });
    } catch (error) {
      if (!fallback || !isUnreadable(error)) throw error;
    }
  }
  return loadFrom(store, values, row, { from: 1, upTo, fold, keeps });
}

/** The positions of snapshots, newest first: each names the previous one. */
export async function* snapshots(store: Store, row: RunRow): AsyncGenerator<number> {
  for (let seq = row.snapshotSeq; seq > 0; ) {
    yield seq;
    const event = await eventAt(store, row.id, seq);
    if (event?.kind !== "snapshot_taken") return;
    seq = Math.min(event.meta.previous ?? 0, seq - 1);
  }
}

interface LoadOptions {
  readonly fallback?: boolean;
  /** Compares what is read with the row. */
  readonly fold?: RowFold | undefined;
  /** The length of the values to keep; outcomes of steps beyond it are read when they are asked for (`unread`). */
  readonly keeps?: number | undefined;
}

interface Range extends LoadOptions {
  readonly from: number;
  readonly upTo: number;
}

async function loadFrom(
  store: Store,
  values: Values,
  row: RunRow,
  { from, upTo, fold, keeps }: Range,
): Promise<RunState> {
  let state = new RunState();
  fold?.begin();
  const chain = new ChainCheck(row.id, from, from === 1 ? "" : undefined);
  const pages =
    keeps === undefined
      ? wholePages(store, row.id, from, upTo)
      : restoredPages(store, row.id, { from, upTo, keeps });
  for await (const { entries, outlines } of pages) {
    for (const [index, entry] of entries.entries()) {
      const outline = outlines?.[index];
      const parsed = outline ? chain.follow(entry, outline) : chain.take(entry);
      // A run without any values can still report what happened in it.
      if (parsed.pruned && row.prunedAt === null) throw await missingValue(store, row.id, entry.seq);
      const isSnapshot = entry.seq === from && from > 1;
      if (isSnapshot) state = await restore(values, row, parsed, fold);
      else state.tailBytes += entry.head.length + (outline?.length ?? entry.data?.length ?? 0);
      const events = isSnapshot ? parsed.events.slice(1) : parsed.events;
      addUp(row.id, entry.seq, () => {
        for (const event of events) if (event.seq <= upTo) state.apply(event);
        fold?.take(parsed.events);
      });
      if (outline) leaveUnread((state.unread ??= new UnreadValues(store, row.id)), outline);
    }
  }
  if (upTo === row.seq) chain.end(row.seq, row.head);
  return state;
}

function leaveUnread(unread: UnreadValues, { events, places, length }: OutlinedEntry): void {
  unread.length += length;
  for (const [index, place] of places.entries())
    if (place) unread.add((events[index] as JournalEvent).seq, place);
}

async function restore(
  values: Values,
  row: RunRow,
  parsed: ParsedEntry,
  fold: RowFold | undefined,
): Promise<RunState> {
  const [event] = parsed.events;
  if (event?.kind !== "snapshot_taken" || event.data === undefined)
    throw damaged(row.id, row.snapshotSeq, "There is no snapshot here.");
  const { value, length } = await values.sized(row.id, event.data);
  const snapshot = value as Snapshot;
  const state = restoreSnapshot(snapshot);
  if (!state) throw damaged(row.id, event.seq, "The snapshot is of an older format.");
  fold?.begin(snapshot.row);
  state.snapshotBytes = length;
  return state;
}
