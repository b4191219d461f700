import { HoldfastError } from "../../errors.ts";
import { digest } from "../../hash.ts";
import { addressOf } from "../../journal/address.ts";
import { isLosingAll } from "../../journal/dropped.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { JOURNAL_FORMAT } from "../../journal/format.ts";
import { addUp, dropped, type ParsedEntry, parseEntry } from "../../journal/journal.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { entryPages } from "../../journal/read.ts";
import { isComplete, type Snapshot, takeSnapshot } from "../../journal/snapshot.ts";
import { RunState } from "../../journal/state.ts";
import { loopState } from "../../journal/state-view.ts";
import type { Entry } from "../../store/contract.ts";
import type { RunRow } from "../../types.ts";
import { dataDigest } from "../../values/codec.ts";
import { BlobCheck, type Missing } from "./blob-check.ts";
import { digestAt } from "./checkpoint-view.ts";
import { History } from "./history.ts";
import { KeptCheckpoints } from "./kept.ts";
import type { Problem, ProblemKind } from "./problem.ts";
import { RowCheck } from "./row-check.ts";

export interface Validation {
  /** True when everything that isn't dropped is as it was written, and a named checkpoint can be restored. */
  readonly ok: boolean;
  /** True when the state can be restored: at the named checkpoint, otherwise at the run's current position. */
  readonly restorable: boolean;
  readonly problems: readonly Problem[];
  /** The number of listed checkpoints. */
  readonly checkpoints: number;
  /** The newest undamaged checkpoint that can be restored; `null` when there is none. */
  readonly lastGood: string | null;
}

type Reader = Pick<EngineParts, "store" | "values">;

/**
 * Reads a whole run and checks everything that can be checked. Returns damage instead of throwing it. `isNamed`: the
 * question is about the checkpoint at `upTo`, which must be restorable.
 */
export async function validateRun(
  reader: Reader,
  row: RunRow,
  upTo: number,
  isNamed = false,
): Promise<Validation> {
  const inspection = new Inspection(reader, row);
  for await (const page of entryPages(reader.store, row.id, 1, row.seq)) await inspection.page(page);
  return inspection.end(upTo, isNamed);
}

class Inspection {
  readonly #reader: Reader;
  readonly #row: RunRow;
  readonly #blobs = new BlobCheck();
  readonly #problems: Problem[] = [];
  /** Missing values: no damage if retention, or that of a fork's source, may have dropped them. */
  readonly #missing: Missing[] = [];
  #droppedUntil = 0;
  readonly #kept = new KeptCheckpoints();
  readonly #rowCheck = new RowCheck();
  /** The end of the chain so far. */
  #next = 1;
  #hash = "";
  #lastEntry = 0;
  /** The sum of the heads, as long as they can be trusted. */
  #history: History | null;
  /** The fold of the events, as long as their values exist. Only used to check snapshots. */
  #state: RunState | null;
  #snapshotSeq = 0;

  constructor(reader: Reader, row: RunRow) {
    this.#reader = reader;
    this.#row = row;
    this.#history = new History(row.parent !== null);
    this.#state = row.snapshotSeq > 0 ? new RunState() : null;
  }

  async page(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      const parsed = this.#link(entry);
      if (!parsed) continue;
      this.#addUp(entry.seq, () => this.#add(entry, parsed.events));
      await this.#fold(parsed);
    }
  }

  /** What can't be added up is a problem of its entry. */
  #addUp(seq: number, fold: () => void): void {
    try {
      addUp(this.#row.id, seq, fold);
    } catch (error) {
      this.#broken(seq, whyOf(error), "entry");
    }
  }

  #add(entry: Entry, events: readonly JournalEvent[]): void {
    this.#history?.take(entry, events);
    this.#blobs.note(events);
    this.#kept.take(events);
    for (const event of events) this.#see(event);
  }

  /** Checks an entry's place in the chain and its values; returns `undefined` when it can't be read at all. */
  #link(entry: Entry): ParsedEntry | undefined {
    const runId = this.#row.id;
    if (entry.seq !== this.#next) this.#broken(this.#next, "An entry is missing.");
    const isNext = entry.seq === this.#next;
    const [hash, before] = [this.#hash, this.#lastEntry];
    this.#next = entry.seq + entry.count;
    this.#hash = digest(entry.head);
    this.#lastEntry = entry.seq;
    let parsed: ParsedEntry;
    try {
      parsed = parseEntry(runId, { ...entry, data: null });
    } catch (error) {
      this.#broken(entry.seq, whyOf(error), "entry");
      return undefined;
    }
    if (isNext && parsed.prev !== hash) this.#broken(before || 1, "The entry after it does not follow it.");
    try {
      return parseEntry(runId, entry);
    } catch (error) {
      this.#problems.push({ seq: entry.seq, kind: "entry", problem: whyOf(error) });
      this.#state = null;
      return { ...parsed, pruned: false };
    }
  }

  /** From here on nothing can be added up. */
  #broken(seq: number, problem: string, kind: ProblemKind = "chain"): void {
    this.#problems.push({ seq, kind, problem });
    this.#history = null;
    this.#state = null;
  }

  #see(event: JournalEvent): void {
    this.#rowCheck.see(event);
    if (event.kind === "values_dropped" || event.kind === "run_forked") this.#droppedUntil = event.seq;
  }

  async #fold({ events, pruned }: ParsedEntry): Promise<void> {
    if (pruned) {
      const { seq = 0 } = events[0] ?? {};
      this.#missing.push({ seq, kind: "missing", problem: "Its values are missing.", last: seq });
      this.#state = null;
    }
    for (const event of events) {
      if (event.kind === "snapshot_taken") await this.#compare(event);
      this.#addUp(event.seq, () => this.#state?.apply(event));
    }
  }

  async #compare(event: JournalEvent & { kind: "snapshot_taken" }): Promise<void> {
    const { values } = this.#reader;
    const state = this.#state;
    if (event.meta.previous !== undefined && event.meta.previous !== this.#snapshotSeq)
      this.#problems.push({
        seq: event.seq,
        kind: "snapshot",
        problem: "It does not name the snapshot before it.",
      });
    this.#snapshotSeq = event.seq;
    if (!state || event.data === undefined) return;
    // A snapshot by another version may hold less, or more. The chain proves that its text is as it was written.
    if (event.meta.format !== JOURNAL_FORMAT) {
      this.#state = null;
      return;
    }
    try {
      const stored = (await values.decode(this.#row.id, event.data)) as Snapshot;
      const isWhole = isComplete(stored);
      if (isWhole && canonical(stored) === canonical(await this.#snapshotOf(state))) return;
      const problem = "The snapshot differs from what is before it.";
      if (isWhole) this.#problems.push({ seq: event.seq, kind: "snapshot", problem });
    } catch (error) {
      if (!HoldfastError.is(error)) throw error;
      // A missing or changed value is reported separately.
      if (error.code === "HF-3011")
        this.#problems.push({ seq: event.seq, kind: "snapshot", problem: error.message });
    }
    this.#state = null;
  }

  /** The snapshot that a worker would have taken of this state. */
  async #snapshotOf(state: RunState): Promise<Snapshot> {
    const loops = [...state.loops()].map(([, loop]) => loop);
    for (const loop of loops) {
      loop.state = { value: await loopState(this.#reader.values, this.#row.id, loop) };
      loop.changes.length = 0;
      loop.live = true;
    }
    const snapshot = takeSnapshot(state) as Snapshot;
    for (const loop of loops) loop.live = false;
    return snapshot;
  }

  async end(upTo: number, isNamed: boolean): Promise<Validation> {
    const { id, seq, head } = this.#row;
    const { changed, missing } = await this.#blobs.check(this.#reader.store, id);
    this.#problems.push(...changed);
    this.#missing.push(...missing);
    if (this.#next <= seq) this.#broken(this.#next, "An entry is missing.");
    else if (this.#next > seq + 1 || this.#hash !== head)
      this.#broken(this.#lastEntry, "The journal does not end where the run's head says.");
    const lost = this.#missing
      .filter(({ last }) => last > this.#droppedUntil)
      .map(({ last: _, ...problem }) => problem);
    const found = [...this.#problems, ...lost, ...(await this.#lostForGood())].sort((a, b) => a.seq - b.seq);
    const restored = await this.#restore(Math.min(upTo, seq));
    const unkept = isNamed && restored?.kind === "dropped" ? [restored] : [];
    const problems = [...found, ...unkept, ...(await this.#strays()), ...this.#rowProblems()].filter(
      (one) => one.seq <= upTo,
    );
    // Reports the obstacle, whatever it is.
    if (restored && problems.length === 0 && restored.kind !== "dropped") problems.push(restored);
    const positions = [...new Set(this.#kept.positions).add(seq)].filter((one) => one <= upTo);
    const lastGood = await this.#lastGood(positions, (found[0]?.seq ?? Number.POSITIVE_INFINITY) - 1);
    return {
      ok: problems.length === 0,
      restorable: restored === undefined,
      problems,
      checkpoints: this.#kept.listed.filter((one) => one <= upTo).length,
      lastGood: lastGood === undefined ? null : addressOf(id, lastGood),
    };
  }

  /** Blobs that nothing names. What an unreadable entry or blob names isn't known, so they are told when all else is well. */
  async #strays(): Promise<Problem[]> {
    const { id, seq } = this.#row;
    const count = this.#problems.length === 0 ? await this.#blobs.strays(this.#reader.store, id) : 0;
    if (count === 0) return [];
    return [{ seq, kind: "blob", problem: `Blobs that nothing in its journal names: ${count}.` }];
  }

  /** The obstacle to restoring a position; `undefined` when there is none. */
  async #restore(seq: number): Promise<Problem | undefined> {
    try {
      if (seq !== this.#row.seq && !this.#kept.positions.includes(seq)) throw dropped(this.#row.id, seq);
      await digestAt(this.#reader, this.#row, seq);
      return undefined;
    } catch (error) {
      const kind = HoldfastError.is(error, "HF-1023") ? "dropped" : "entry";
      return { seq, kind, problem: whyOf(error) };
    }
  }

  /**
   * If retention has dropped values, a missing one may have been dropped. But retention keeps what the run needs to
   * continue, and what is pinned.
   */
  async #lostForGood(): Promise<Problem[]> {
    if (this.#droppedUntil === 0 || (await isLosingAll(this.#reader.store, this.#row))) return [];
    const lost: Problem[] = [];
    const pinned = this.#kept.positions.filter((seq) => this.#kept.tags.get(seq)?.pinned);
    for (const seq of new Set([...pinned, this.#row.seq])) {
      const problem = await this.#restore(seq);
      if (problem?.kind === "dropped")
        lost.push({
          seq,
          kind: "missing",
          problem: "A value of its state is missing, which nobody may drop.",
        });
    }
    return lost;
  }

  /** Retention may have dropped undamaged positions; tries a few. */
  async #lastGood(positions: readonly number[], good: number): Promise<number | undefined> {
    const newest = positions.filter((seq) => seq <= good).sort((a, b) => b - a);
    for (const seq of newest.slice(0, MOST_TRIED)) if (!(await this.#restore(seq))) return seq;
    return undefined;
  }

  #rowProblems(): Problem[] {
    const run = this.#history?.run;
    const differs = run ? this.#rowCheck.differences(this.#row, run) : [];
    if (differs.length === 0) return [];
    const problem = `The run's row differs from its journal: ${differs.join(", ")}.`;
    return [{ seq: this.#row.seq, kind: "row", problem }];
  }
}

/** Each try reads the journal up to there. */
const MOST_TRIED = 100;

const whyOf = (error: unknown): string => {
  if (HoldfastError.is(error)) return error.why;
  throw error;
};

type Node = Snapshot["root"];

/** Equal for snapshots that a restore can't distinguish: order and empty places don't count. */
const canonical = ({ row: _, ...snapshot }: Snapshot): string =>
  dataDigest({ ...snapshot, root: canonicalNode(snapshot.root) });

function canonicalNode({ records, notes, loops, scopes }: Node): object {
  const inner = scopes.map(([segment, node]) => [segment, canonicalNode(node)] as const);
  const parts = {
    records: byName(records),
    notes: byName(notes),
    loops: byName(loops.filter(([, iteration]) => iteration > 0)),
    scopes: byName(inner.filter(([, node]) => Object.keys(node).length > 0)),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, list]) => list.length > 0));
}

const byName = <T extends readonly [string, ...unknown[]]>(list: readonly T[]): T[] =>
  [...list].sort(([a], [b]) => (a < b ? -1 : 1));
