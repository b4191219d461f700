import { HoldfastError } from "./errors.ts";
import type { EventKind, JournalEvent } from "./events.ts";
import { ChainCheck, damaged, type ParsedEntry, parseEntry } from "./journal.ts";
import { RunState } from "./replay.ts";
import { restoreSnapshot, type Snapshot } from "./snapshot.ts";
import type { Store } from "./store.ts";
import type { RunRow } from "./types.ts";
import type { Values } from "./values.ts";

const PAGE = 2_000;

/**
 * Restore: the newest snapshot and the tail after it, checked against the chain. A damaged snapshot is passed over
 * for the whole journal; a damaged journal is an error, never a fresh start.
 */
export async function loadRun(store: Store, values: Values, row: RunRow): Promise<RunState> {
  if (row.snapshotSeq > 0) {
    try {
      return await loadFrom(store, values, row, row.snapshotSeq);
    } catch (error) {
      if (!HoldfastError.is(error, "HF-3010") && !HoldfastError.is(error, "HF-3011")) throw error;
    }
  }
  return loadFrom(store, values, row, 1);
}

async function loadFrom(store: Store, values: Values, row: RunRow, from: number): Promise<RunState> {
  let state = new RunState();
  const chain = new ChainCheck(row.id, from, from === 1 ? "" : undefined);
  for (let next = from; next <= row.seq; ) {
    const entries = await store.entries(row.id, { from: next, limit: PAGE });
    if (entries.length === 0) break;
    for (const entry of entries) {
      next = entry.seq + entry.count;
      // Entries written after the row was read belong to a later state.
      if (entry.seq > row.seq) break;
      const parsed = chain.take(entry);
      if (parsed.pruned && row.status !== "completed")
        throw damaged(row.id, entry.seq, "Its values have been dropped.");
      const isSnapshot = entry.seq === from && from > 1;
      if (isSnapshot) state = await restore(values, row, parsed);
      else state.tailBytes += entry.head.length + (entry.data?.length ?? 0);
      for (const event of isSnapshot ? parsed.events.slice(1) : parsed.events) state.apply(event);
    }
  }
  chain.end(row.seq, row.head);
  return state;
}

async function restore(values: Values, row: RunRow, parsed: ParsedEntry): Promise<RunState> {
  const [event] = parsed.events;
  if (event?.kind !== "snapshot_taken") throw damaged(row.id, row.snapshotSeq, "There is no snapshot here.");
  const snapshot = (await values.decode(row.id, event.data)) as Snapshot;
  const state = restoreSnapshot(snapshot);
  state.snapshotBytes = await values.size(event.data);
  return state;
}

/** The newest event of one of these kinds, looked for from the end of the journal. */
export async function lastEvent(
  store: Store,
  row: RunRow,
  kinds: readonly EventKind[],
): Promise<JournalEvent | undefined> {
  for (let seq = row.seq; seq > 0; ) {
    const [entry] = await store.entries(row.id, { from: seq, limit: 1 });
    if (!entry) return undefined;
    const event = parseEntry(row.id, entry).events.findLast((one) => kinds.includes(one.kind));
    if (event) return event;
    seq = entry.seq - 1;
  }
  return undefined;
}
