import type { Raw } from "../../journal/events.ts";
import { parseEntry } from "../../journal/journal.ts";
import { isUnreadable } from "../../journal/load.ts";
import { entryAt } from "../../journal/read.ts";
import type { ScopeNode } from "../../journal/records.ts";
import { restoreSnapshot, type Snapshot } from "../../journal/snapshot.ts";
import type { RunState } from "../../journal/state.ts";
import { blobsIn, type Values } from "../../journal/values.ts";
import { isMarkNote } from "../../keys.ts";
import type { Store } from "../../store/contract.ts";
import type { Holding, JournalScan } from "./scan.ts";

/** Values that must stay: entries by position, blobs by hash, and the snapshots that are used. */
export interface Needed {
  readonly entries: ReadonlySet<number>;
  readonly blobs: ReadonlySet<string>;
  readonly snapshots: ReadonlySet<number>;
}

export const NOTHING: Needed = { entries: new Set(), blobs: new Set(), snapshots: new Set() };

/** What a snapshot needs besides its entry. */
interface References {
  /** The positions of the values that its state refers to. */
  readonly positions: readonly number[];
  readonly blobs: readonly string[];
}

/** The references of a snapshot; `null` when it can't be read. */
export type ReadSnapshot = (seq: number) => Promise<References | null>;

/**
 * Everything that restoring the `wanted` positions reads, and every value that those states refer to. `null`: the
 * newest state itself can't be restored, so its needs are unknown. The newest snapshot may later prove damaged, so
 * there is always a second way to restore the newest state.
 */
export async function neededFor(
  scan: JournalScan,
  wanted: ReadonlySet<number>,
  read: ReadSnapshot,
): Promise<Needed | null> {
  const keeper = new Keeper(scan, read);
  keeper.keepRange(1, 1);
  const newest = await keeper.keep(scan.seq);
  if (newest === undefined) return null;
  if (newest > 1) await keeper.keep(newest - 1);
  for (const seq of [...wanted].sort((a, b) => b - a)) await keeper.keep(seq);
  return keeper;
}

class Keeper implements Needed {
  readonly entries = new Set<number>();
  readonly blobs = new Set<string>();
  readonly snapshots = new Set<number>();
  readonly #scan: JournalScan;
  readonly #read: ReadSnapshot;
  /** For each start, the position up to which everything is kept. */
  readonly #until = new Map<number, number>();

  constructor(scan: JournalScan, read: ReadSnapshot) {
    this.#scan = scan;
    this.#read = read;
  }

  /**
   * Keeps everything that restoring `seq` reads. Returns where that begins; `undefined` when it can't be restored any
   * more.
   */
  async keep(seq: number): Promise<number | undefined> {
    const { dropped, snapshots } = this.#scan;
    const gone = dropped.findLast((one) => one <= seq) ?? 0;
    for (const snapshot of snapshots.toReversed()) {
      if (snapshot.seq > seq) continue;
      if (snapshot.seq <= gone) break;
      const references = await this.#read(snapshot.seq);
      if (!references) continue;
      this.#keepSnapshot(snapshot.seq, references);
      this.keepRange(snapshot.seq, seq);
      return snapshot.seq;
    }
    if (gone > 0) return undefined;
    this.keepRange(1, seq);
    return 1;
  }

  keepRange(from: number, to: number): void {
    if ((this.#until.get(from) ?? 0) >= to) return;
    this.#until.set(from, to);
    const { entries } = this.#scan;
    const last = this.#scan.indexOf(to);
    for (let index = this.#scan.indexOf(from); index <= last; index++) {
      const { seq, blobs } = entries[index] as Holding;
      this.entries.add(seq);
      for (const blob of blobs) this.blobs.add(blob);
    }
  }

  #keepSnapshot(seq: number, { positions, blobs }: References): void {
    if (this.snapshots.has(seq)) return;
    this.snapshots.add(seq);
    for (const blob of blobs) this.blobs.add(blob);
    for (const position of positions) {
      if (!this.#scan.hasValue(position)) continue;
      this.entries.add((this.#scan.entries[this.#scan.indexOf(position)] as Holding).seq);
      for (const blob of this.#scan.blobsAt(position)) this.blobs.add(blob);
    }
  }
}

/** Reads snapshots of one run and caches their references. */
export function snapshotReader(store: Store, values: Values, runId: string): ReadSnapshot {
  const known = new Map<number, References | null>();
  return async (seq) => {
    const found = known.get(seq);
    if (found !== undefined) return found;
    const references = await readReferences(store, values, runId, seq);
    known.set(seq, references);
    return references;
  };
}

async function readReferences(
  store: Store,
  values: Values,
  runId: string,
  seq: number,
): Promise<References | null> {
  const entry = await entryAt(store, runId, seq);
  const [event] = entry?.seq === seq ? parseEntry(runId, entry).events : [];
  if (event?.kind !== "snapshot_taken" || event.data === undefined) return null;
  const state = await restored(values, runId, event.data);
  if (!state) return null;
  const blobs: string[] = [];
  for (const raw of [event.data, state.input, ...state.memory.map(({ data }) => data)])
    if (raw !== undefined) blobs.push(...(await blobsOf(store, runId, raw)));
  return { positions: [...positions(state)], blobs };
}

async function restored(values: Values, runId: string, raw: Raw): Promise<RunState | null> {
  let snapshot: Snapshot;
  try {
    snapshot = (await values.decode(runId, raw)) as Snapshot;
  } catch (error) {
    // A failing store is another matter.
    if (isUnreadable(error)) return null;
    throw error;
  }
  try {
    return restoreSnapshot(snapshot) ?? null;
  } catch {
    return null;
  }
}

/** The blobs that a stored value is, or points to. */
export async function blobsOf(store: Store, runId: string, raw: Raw): Promise<readonly string[]> {
  if (typeof raw === "string") return blobsIn(raw);
  const text = (await store.blobs(runId, [raw.blob])).get(raw.blob);
  return [raw.blob, ...blobsIn(text ?? "")];
}

/** The positions of values that a state refers to without holding them. */
function* positions({ root, signals, undoable, facts }: RunState): Generator<number> {
  yield* inScope(root);
  for (const { seq, taken } of signals) if (!taken) yield seq;
  yield* undoable.values();
  yield* facts.decisions;
  for (const { seq } of facts.agents.values()) yield seq;
  for (const recorded of [facts.failure, facts.config]) if (recorded) yield recorded.seq;
}

function* inScope(node: ScopeNode): Generator<number> {
  for (const { seq, took } of node.records.values()) {
    yield seq;
    if (took !== undefined) yield took;
  }
  for (const [name, { seq, took = [] }] of node.notes) {
    // The value of a mark is a record, which no replay reads.
    if (!isMarkNote(name)) yield seq;
    yield* took;
  }
  for (const scope of node.scopes.values()) yield* inScope(scope);
}
