import { eventAt } from "../../journal/read.ts";
import type { Drop, Store } from "../../store/contract.ts";
import { blobsOf, type Needed } from "./needed.ts";
import type { JournalScan } from "./scan.ts";

/** One thing to drop: the values of an entry, or a blob. */
export type Item =
  | { readonly entry: number; readonly bytes: number }
  | { readonly blob: string; readonly bytes: number };

const BLOBS_AT_ONCE = 20;

/** The known blobs of a run. Valid as long as nothing else drops any. */
export class Inventory {
  readonly #runId: string;
  /** Their lengths; `null` for a missing one. */
  readonly #blobs = new Map<string, number | null>();
  /** By position of a snapshot: the blobs that it is, or points to. */
  readonly #snapshots = new Map<number, readonly string[]>();

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Those of them that are there. */
  async present(store: Store, hashes: ReadonlySet<string>): Promise<Item[]> {
    const unknown = [...hashes].filter((hash) => !this.#blobs.has(hash));
    for (let from = 0; from < unknown.length; from += BLOBS_AT_ONCE) {
      const page = unknown.slice(from, from + BLOBS_AT_ONCE);
      const found = await store.blobs(this.#runId, page);
      for (const hash of page) this.#blobs.set(hash, found.get(hash)?.length ?? null);
    }
    return [...hashes].flatMap((blob) => {
      const bytes = this.#blobs.get(blob);
      return typeof bytes === "number" ? [{ blob, bytes }] : [];
    });
  }

  /** The blobs of a snapshot that still exists. */
  async ofSnapshot(store: Store, seq: number): Promise<readonly string[]> {
    const known = this.#snapshots.get(seq);
    if (known) return known;
    const raw = (await eventAt(store, this.#runId, seq))?.data;
    const blobs = raw === undefined ? [] : await blobsOf(store, this.#runId, raw);
    this.#snapshots.set(seq, blobs);
    return blobs;
  }
}

/**
 * Everything present and not needed, in an order that may be interrupted anywhere. Only a snapshot itself names all the
 * blobs it points to, so it goes after them; and a run that loses everything loses its input first, which shows that it
 * is being dropped.
 */
export async function itemsToDrop(
  store: Store,
  scan: JournalScan,
  inventory: Inventory,
  needed: Needed,
): Promise<readonly Item[]> {
  const unwanted = scan.snapshots.filter(({ seq }) => !needed.snapshots.has(seq));
  const texts = new Set(unwanted.flatMap(({ blob }) => (blob === undefined ? [] : [blob])));
  const parts = new Set(scan.entries.flatMap(({ blobs }) => blobs));
  for (const { seq } of unwanted) for (const blob of await inventory.ofSnapshot(store, seq)) parts.add(blob);
  for (const blob of needed.blobs) for (const set of [texts, parts]) set.delete(blob);
  for (const blob of texts) parts.delete(blob);
  const entries = scan.entries.filter(({ seq, bytes }) => bytes > 0 && !needed.entries.has(seq));
  return withInputFirst(scan, [
    ...(await inventory.present(store, parts)),
    ...entries.map(({ seq, bytes }) => ({ entry: seq, bytes })),
    ...(await inventory.present(store, texts)),
  ]);
}

/** The records to delete with these items: a record goes with the value that it shows, and with its checkpoint. */
export function recordsToDrop(
  { records }: JournalScan,
  { entries, blobs }: Pick<Drop, "entries" | "blobs">,
  lost: ReadonlySet<number>,
): Pick<Drop, "records"> {
  if (records.length === 0) return {};
  const [gone, texts] = [new Set(entries), new Set(blobs)];
  const found = records.filter(
    ({ seq, entry, blob }) => lost.has(seq) || (blob === undefined ? gone.has(entry) : texts.has(blob)),
  );
  return { records: found.map(({ seq }) => seq) };
}

function withInputFirst({ inputBlob }: JournalScan, items: readonly Item[]): readonly Item[] {
  const isInput = (item: Item) =>
    inputBlob === undefined ? "entry" in item && item.entry === 1 : "blob" in item && item.blob === inputBlob;
  return [...items.filter(isInput), ...items.filter((item) => !isInput(item))];
}
