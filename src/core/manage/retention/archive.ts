import type { Clock } from "../../clock.ts";
import { entryPages } from "../../journal/read.ts";
import type { Blob, Entry, Store } from "../../store/contract.ts";
import type { RunRow } from "../../types.ts";
import type { Item } from "./plan.ts";

/**
 * A stored run, for archiving elsewhere. Entries come in order, and each head names the hash of the previous one;
 * `run.head` is the hash of the last. Both lists may be iterated more than once.
 */
export interface ArchiveBundle {
  readonly run: RunRow;
  readonly entries: AsyncIterable<Entry>;
  readonly blobs: AsyncIterable<Blob>;
}

/**
 * Archives a run elsewhere. `signal` is aborted when it takes too long, or when retention is stopped: then nothing of
 * the run is dropped.
 */
export type Archive = (bundle: ArchiveBundle, how: { readonly signal: AbortSignal }) => Promise<void>;

/**
 * The bundle of a run whose blobs are all listed in `items`. Read incrementally, because a run may be larger than
 * memory.
 */
export function bundleOf(store: Store, run: RunRow, items: readonly Item[]): ArchiveBundle {
  return {
    run,
    entries: { [Symbol.asyncIterator]: () => entriesOf(store, run) },
    blobs: { [Symbol.asyncIterator]: () => blobsOf(store, run.id, items) },
  };
}

interface Patience {
  readonly clock: Clock;
  readonly ms: number;
  /** Aborted when retention must stop. */
  readonly stop: AbortSignal | undefined;
}

/** Resolves when the archive has accepted the run. Throws when it failed, took too long, or retention was stopped. */
export async function handOver(
  archive: Archive,
  bundle: ArchiveBundle,
  { clock, ms, stop }: Patience,
): Promise<void> {
  const limit = new AbortController();
  const signal = AbortSignal.any(stop ? [stop, limit.signal] : [limit.signal]);
  signal.throwIfAborted();
  const over = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  const cancel = clock.setTimer(() => limit.abort(new Error(`It took longer than ${ms} ms.`)), ms);
  try {
    await Promise.race([archive(bundle, { signal }), over]);
  } finally {
    cancel();
  }
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
