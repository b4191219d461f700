import type { JournalEvent } from "../../journal/events.ts";
import { ChainCheck, headBlobs } from "../../journal/journal.ts";
import { entryPages } from "../../journal/read.ts";
import { blobsIn } from "../../journal/values.ts";
import type { Entry, Store } from "../../store/contract.ts";
import type { RunRow } from "../../types.ts";
import { KeptCheckpoints } from "../checkpoints/kept.ts";

/** Small enough that nothing else in the process waits long. */
const PAGE = 250;

/** An entry as retention sees it: what it holds and points to, not the values themselves. */
export interface Holding {
  readonly seq: number;
  /** The length of its values; 0 when it has none, or none any more. */
  readonly bytes: number;
  /** Blobs that are its values, or that its values point to; without those of a snapshot. */
  readonly blobs: readonly string[];
}

/**
 * Retention's view of a run's journal. Everything is read and checked once against the chain, so that nothing is ever
 * dropped from a damaged journal; only the places of values are kept.
 */
export class JournalScan {
  readonly entries: Holding[] = [];
  /** Entries that had values and have none any more. */
  readonly dropped: number[] = [];
  /** The remaining checkpoints. */
  readonly checkpoints = new KeptCheckpoints();
  /** Oldest first; `blob` holds its text, if it isn't in the entry. */
  readonly snapshots: { readonly seq: number; readonly blob: string | undefined }[] = [];
  /** The records of its checkpoints: where each event stands, and the blob that holds its value, if any. */
  readonly records: { readonly seq: number; readonly entry: number; readonly blob: string | undefined }[] =
    [];
  /** Those of them that no earlier pass has dropped. */
  #left: number[] = [];
  /** The position of the newest event read. */
  seq = 0;
  /** The blob that holds the run's input, when it is one. */
  inputBlob: string | undefined;
  readonly #chain: ChainCheck;
  /** Positions of events with a value, and the blobs that it points to; `undefined` when it is a blob itself. */
  readonly #values = new Map<number, readonly string[] | undefined>();

  constructor(runId: string) {
    this.#chain = new ChainCheck(runId, 1, "");
  }

  /**
   * Reads on to the run's current position. Returns `false` when values were dropped since, so that the earlier part is
   * no longer valid.
   */
  async extend(store: Store, row: RunRow): Promise<boolean> {
    const before = this.seq;
    let isSame = true;
    for await (const page of entryPages(store, row.id, before + 1, row.seq, PAGE)) {
      for (const entry of page) {
        const { events } = this.#chain.take(entry);
        this.#take(entry, events);
        if (before > 0 && events.some(({ kind }) => kind === "values_dropped")) isSame = false;
      }
    }
    this.#chain.end(row.seq, row.head);
    this.seq = row.seq;
    return isSame;
  }

  #take(entry: Entry, events: readonly JournalEvent[]): void {
    const blobs = new Set(headBlobs(entry));
    this.checkpoints.take(events);
    for (const event of events) {
      this.#note(event, entry.seq);
      if (event.kind === "snapshot_taken" || event.data === undefined) continue;
      const inner = typeof event.data === "string" ? blobsIn(event.data) : undefined;
      for (const blob of inner ?? [(event.data as { blob: string }).blob]) blobs.add(blob);
      this.#values.set(event.seq, inner);
    }
    const names = blobs.size === 0 ? NONE : [...blobs];
    this.entries.push({ seq: entry.seq, bytes: entry.data?.length ?? 0, blobs: names });
    if (events.some((event) => event.dropped)) this.dropped.push(entry.seq);
  }

  #note(event: JournalEvent, entry: number): void {
    const blob = typeof event.data === "object" ? event.data.blob : undefined;
    switch (event.kind) {
      case "run_created":
        this.inputBlob = blob;
        break;
      case "snapshot_taken":
        this.snapshots.push({ seq: event.seq, blob });
        break;
      case "checkpoint_marked":
        if (!event.meta.record) break;
        this.records.push({ seq: event.seq, entry, blob });
        this.#left.push(event.seq);
        break;
      case "values_dropped":
        if (event.meta.all || event.meta.keep) this.#left = this.#left.filter(this.#keeps());
        break;
      default:
    }
  }

  #keeps(): (seq: number) => boolean {
    const kept = new Set(this.checkpoints.positions);
    return (seq) => kept.has(seq);
  }

  /** Records of checkpoints that the rule of a claim has let go as others were added. Nobody has dropped them yet. */
  get stale(): readonly number[] {
    if (this.#left.length === 0) return [];
    const keeps = this.#keeps();
    return this.#left.filter((seq) => !keeps(seq));
  }

  /** True when the event at `seq` has a value, here or in a blob. */
  hasValue(seq: number): boolean {
    return this.#values.has(seq);
  }

  /** The blobs that the value of the event at `seq` needs. What a blob points to is among the blobs of its entry. */
  blobsAt(seq: number): readonly string[] {
    return this.#values.get(seq) ?? (this.entries[this.indexOf(seq)] as Holding).blobs;
  }

  /** Where in `entries` the entry stands that holds `seq`. */
  indexOf(seq: number): number {
    let [low, high] = [0, this.entries.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.entries[middle] as Holding).seq <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

const NONE: readonly string[] = [];
