import type { Clock } from "../../clock.ts";
import { entryPages } from "../../journal/read.ts";
import type { Blob, Entry, Store } from "../../store/contract.ts";
import type { RunRow } from "../../types.ts";
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

/** Keeps a run elsewhere. `signal` is raised when it takes too long, or when retention is stopped: then nothing of the run is dropped. */
export type Archive = (bundle: ArchiveBundle, how: { readonly signal: AbortSignal }) => Promise<void>;

/** The bundle of a run, of whose blobs all are listed in `items`. Read bit by bit: a run may be larger than memory. */
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
  /** Raised when retention is to stop. */
  readonly stop: AbortSignal | undefined;
}

/** Answers when the archive has taken the run. Throws when it has not: it failed, took too long, or retention was stopped. */
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
