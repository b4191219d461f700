import { digest } from "../../hash.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { blobsIn } from "../../journal/values.ts";
import type { Store } from "../../store/contract.ts";
import type { Problem } from "./problem.ts";

const BATCH = 200;

/** The first and the last event that need a blob. */
interface Need {
  readonly first: number;
  readonly last: number;
}

/** A missing value, and the last position that needs it. */
export interface Missing extends Problem {
  readonly last: number;
}

/** Checks that every blob a run's values point to exists and matches its name. */
export class BlobCheck {
  /** Blobs that are whole values, and blobs that are parts of one. */
  readonly #values = new Map<string, Need>();
  readonly #parts = new Map<string, Need>();

  note(events: readonly JournalEvent[]): void {
    for (const { seq, data } of events) {
      if (typeof data === "string") this.#noteParts(data, { first: seq, last: seq });
      else if (data) need(this.#values, data.blob, { first: seq, last: seq });
    }
  }

  async check(store: Store, runId: string): Promise<{ changed: Problem[]; missing: Missing[] }> {
    const changed: Problem[] = [];
    const missing: Missing[] = [];
    const read = async (needs: Map<string, Need>, each: (text: string, by: Need) => void): Promise<void> => {
      for (const batch of batches([...needs])) {
        const hashes = batch.map(([hash]) => hash);
        const found = await store.blobs(runId, hashes);
        for (const [hash, by] of batch) {
          const text = found.get(hash);
          if (text === undefined)
            missing.push({
              seq: by.first,
              kind: "missing",
              problem: `Blob ${hash} is missing.`,
              last: by.last,
            });
          else if (digest(text) !== hash)
            changed.push({ seq: by.first, kind: "blob", problem: `Blob ${hash} is changed.` });
          else each(text, by);
        }
      }
    };
    await read(this.#values, (text, by) => this.#noteParts(text, by));
    await read(this.#parts, () => undefined);
    return { changed, missing };
  }

  /** How many blobs of the run nothing in its journal names. Call it after {@link check}, which reads what values name. */
  async strays(store: Store, runId: string): Promise<number> {
    const stored = (await store.blobNames?.(runId)) ?? [];
    return stored.filter((hash) => !this.#values.has(hash) && !this.#parts.has(hash)).length;
  }

  #noteParts(text: string, by: Need): void {
    for (const hash of blobsIn(text)) need(this.#parts, hash, by);
  }
}

function need(needs: Map<string, Need>, hash: string, { first, last }: Need): void {
  const known = needs.get(hash) ?? { first, last };
  needs.set(hash, { first: Math.min(known.first, first), last: Math.max(known.last, last) });
}

function* batches<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < list.length; from += BATCH) yield list.slice(from, from + BATCH);
}
