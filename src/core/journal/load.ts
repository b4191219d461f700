import type { Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import { missingValue } from "./door.ts";
import { ChainCheck, damaged, type ParsedEntry } from "./journal.ts";
import { entryPages, eventAt } from "./read.ts";
import type { RowFold } from "./row-fold.ts";
import { restoreSnapshot, type Snapshot } from "./snapshot.ts";
import { RunState } from "./state.ts";
import { isUnreadable } from "./unreadable.ts";
import type { Values } from "./values.ts";

export { lastEvent } from "./door.ts";
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
  fallback = true,
  fold?: RowFold,
): Promise<RunState> {
  for await (const seq of snapshots(store, row)) {
    if (seq > upTo) continue;
    try {
      return await loadFrom(store, values, row, { from: seq, upTo, fold });
    } catch (error) {
      if (!fallback || !isUnreadable(error)) throw error;
    }
  }
  return loadFrom(store, values, row, { from: 1, upTo, fold });
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

interface Range {
  readonly from: number;
  readonly upTo: number;
  /** Compares what is read with the row. */
  readonly fold: RowFold | undefined;
}

async function loadFrom(
  store: Store,
  values: Values,
  row: RunRow,
  { from, upTo, fold }: Range,
): Promise<RunState> {
  let state = new RunState();
  fold?.begin();
  const chain = new ChainCheck(row.id, from, from === 1 ? "" : undefined);
  for await (const entries of entryPages(store, row.id, from, upTo)) {
    for (const entry of entries) {
      const parsed = chain.take(entry);
      // A run without any values can still report what happened in it.
      if (parsed.pruned && row.prunedAt === null) throw await missingValue(store, row.id, entry.seq);
      const isSnapshot = entry.seq === from && from > 1;
      if (isSnapshot) state = await restore(values, row, parsed, fold);
      else state.tailBytes += entry.head.length + (entry.data?.length ?? 0);
      const events = isSnapshot ? parsed.events.slice(1) : parsed.events;
      for (const event of events) if (event.seq <= upTo) state.apply(event);
      fold?.take(parsed.events);
    }
  }
  if (upTo === row.seq) chain.end(row.seq, row.head);
  return state;
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
  const snapshot = (await values.decode(row.id, event.data)) as Snapshot;
  // A snapshot of the first format lacks facts, which are in the journal before it.
  if (!snapshot.facts) throw damaged(row.id, event.seq, "The snapshot is of an older format.");
  const state = restoreSnapshot(snapshot);
  fold?.begin(snapshot.row);
  state.snapshotBytes = await values.size(row.id, event.data);
  return state;
}
