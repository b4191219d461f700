import type { Blob, Entry, Store } from "../../store.ts";
import type { RunRow } from "../../types.ts";
import { entryPages } from "../checkpoints/positions.ts";
import type { Item } from "./plan.ts";

/**
 * A run as it is stored, for keeping elsewhere. Entries come in order, and each of their heads names the hash of the one before;
 * `run.head` is the hash of the last. Both lists may be gone through more than once.
 */
export interface ArchiveBundle {
  readonly run: RunRow;
  readonly entries: AsyncIterable<Entry>;
  readonly blobs: AsyncIterable<Blob>;
}

/** The bundle of a run, of whose blobs all are listed in `items`. Read bit by bit: a run may be larger than memory. */
export function bundleOf(store: Store, run: RunRow, items: readonly Item[]): ArchiveBundle {
  return {
    run,
    entries: { [Symbol.asyncIterator]: () => entriesOf(store, run) },
    blobs: { [Symbol.asyncIterator]: () => blobsOf(store, run.id, items) },
  };
}

async function* entriesOf(store: Store, run: RunRow): AsyncGenerator<Entry> {
  for await (const page of entryPages(store, run.id, 1, run.seq)) yield* page;
}

async function* blobsOf(store: Store, runId: string, items: readonly Item[]): AsyncGenerator<Blob> {
  for (const item of items) {
    if (!("blob" in item)) continue;
    for (const [hash, data] of await store.blobs(runId, [item.blob])) yield { hash, data };
  }
}
