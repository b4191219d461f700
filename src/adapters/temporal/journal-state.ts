import { claimAfter, refusal, UNCLAIMED } from "../../core/store/claim.ts";
import type { Append, Drop, Entry, Refusal } from "../../core/store/contract.ts";
import { identityOf } from "../../core/tags.ts";
import { COUNTED, type RunRow } from "../../core/types.ts";
import {
  type BlobsPage,
  type Carried,
  type EntriesPage,
  type EntriesQuery,
  type HeldRow,
  MOST_BYTES,
  type Past,
} from "./contract.ts";

/** Bytes for everything in an argument besides entries and blobs. */
const ASIDE = 100_000;

/**
 * The row and the journal of one run, inside the sandbox: a store for a single run. Pure and synchronous, so that an
 * update is one atomic step.
 */
export class JournalState {
  #row: RunRow | null = null;
  #entries: Entry[] = [];
  readonly #blobs = new Map<string, string>();
  #past: Past[] = [];
  /** Appends of this execution. */
  appends = 0;

  get row(): RunRow {
    if (!this.#row) throw new Error("the run has no row yet");
    return this.#row;
  }

  restore({ row, entries, blobs, past }: Carried): void {
    this.#row = row;
    this.#entries = [...entries];
    this.#past = [...past];
    for (const [hash, data] of Object.entries(blobs)) this.#blobs.set(hash, data);
  }

  /** Why the append is refused; `null` when it was applied. `isHeld`: somebody alive has the claim. */
  append(append: Append, isHeld: boolean, now: number): Refusal | null {
    if (this.#has(append)) return null;
    const before = this.#row;
    // A claim lasts as long as the life of its worker: only that says whether another one may take it.
    const until = isHeld ? Number.POSITIVE_INFINITY : 0;
    const judged = before && { ...before, claim: { ...before.claim, until } };
    const refused = refusal(append, judged, now);
    if (refused) return refused;
    this.#row = after(before, append, now);
    if (append.drop) this.#forget(append.drop);
    this.#entries.push(...append.entries);
    for (const { hash, data } of append.blobs) if (!this.#blobs.has(hash)) this.#blobs.set(hash, data);
    this.appends++;
    return null;
  }

  /** True when exactly this was appended before: its answer was lost, and the sender asks again. */
  #has({ entries }: Append): boolean {
    const last = entries.at(-1);
    if (!last) return false;
    const there = this.#entries.findLast(({ seq }) => seq <= last.seq);
    return there?.seq === last.seq && there.head === last.head;
  }

  #forget({ entries, blobs }: Drop): void {
    const dropped = new Set(entries);
    this.#entries = this.#entries.map((entry) => (dropped.has(entry.seq) ? { ...entry, data: null } : entry));
    for (const hash of blobs) this.#blobs.delete(hash);
  }

  /** The worker that has the claim is gone. */
  expire(now: number): void {
    this.#row = { ...this.row, claim: { ...this.row.claim, until: now } };
  }

  held(isHeld: boolean): HeldRow {
    return { row: this.row, isHeld };
  }

  page({ from, limit }: EntriesQuery): EntriesPage {
    const entries: Entry[] = [];
    let bytes = 0;
    for (const entry of this.#entries) {
      if (entry.seq + entry.count <= from) continue;
      bytes += sizeOf(entry);
      if (entries.length === limit || (bytes > MOST_BYTES && entries.length > 0)) break;
      entries.push(entry);
    }
    return { entries, to: this.row.seq, past: this.#past };
  }

  blobs(hashes: readonly string[]): BlobsPage {
    const found: Record<string, string> = {};
    const rest: string[] = [];
    let bytes = 0;
    for (const hash of hashes) {
      const data = this.#blobs.get(hash);
      if (data === undefined) continue;
      bytes += data.length;
      if (bytes > MOST_BYTES && Object.keys(found).length > 0) rest.push(hash);
      else found[hash] = data;
    }
    return { found, rest, past: this.#past };
  }

  /**
   * What the next execution begins with: everything since the newest snapshot, and of the rest the newest, as far as it
   * fits. What it leaves behind stays readable in this execution.
   */
  carry(execution: string, { life, buried }: Pick<Carried, "life" | "buried">): Carried {
    const room = MOST_BYTES - ASIDE;
    const { snapshotSeq } = this.row;
    const needed = this.#entries.filter(({ seq, count }) => seq + count > snapshotSeq);
    const entries = newest(needed, room, sizeOf);
    const left = room - entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
    const blobs = newest([...this.#blobs], left, ([hash, data]) => hash.length + data.length);
    const first = this.#entries[0];
    const own: Past[] = first ? [{ execution, from: first.seq, to: this.row.seq }] : [];
    const past = this.#past.concat(own);
    return { row: this.row, entries, blobs: Object.fromEntries(blobs), past, life, buried };
  }
}

const sizeOf = ({ head, data }: Entry): number => head.length + (data?.length ?? 0) + 40;

/** The last ones that fit into so many bytes together, in their order. */
function newest<T>(all: readonly T[], room: number, size: (one: T) => number): T[] {
  let left = room;
  const from = all.findLastIndex((one) => (left -= size(one)) < 0);
  return all.slice(from + 1);
}

function after(
  before: RunRow | null,
  { run, claim, entries, head, countsOnly }: Append,
  now: number,
): RunRow {
  const last = entries.at(-1);
  const seq = last ? last.seq + last.count - 1 : (before?.seq ?? 0);
  const counted =
    countsOnly && before ? { ...before, ...Object.fromEntries(COUNTED.map((key) => [key, run[key]])) } : run;
  return {
    ...counted,
    ...identityOf(before ?? run),
    claim: claimAfter(before?.claim ?? UNCLAIMED, claim, now),
    seq,
    head,
  };
}
