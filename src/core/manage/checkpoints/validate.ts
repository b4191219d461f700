import { HoldfastError } from "../../errors.ts";
import { digest } from "../../hash.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { type ParsedEntry, parseEntry } from "../../journal/journal.ts";
import { type Snapshot, takeSnapshot } from "../../journal/snapshot.ts";
import { loopState } from "../../journal/state-view.ts";
import type { EngineParts } from "../../parts.ts";
import { RunState } from "../../run/replay.ts";
import type { Entry } from "../../store.ts";
import type { RunRow } from "../../types.ts";
import { dataDigest, encode } from "../../values/codec.ts";
import { addressOf, isCheckpoint } from "./address.ts";
import { BlobCheck } from "./blob-check.ts";
import { History } from "./history.ts";
import { entryPages } from "./positions.ts";

/** What is wrong with a run, and where. */
export interface Problem {
  /** The first position that cannot be relied on. */
  readonly seq: number;
  readonly problem: string;
}

export interface Validation {
  readonly ok: boolean;
  readonly problems: readonly Problem[];
  /** How many checkpoints there are. */
  readonly checkpoints: number;
  /** The newest checkpoint that no damage has touched; `null` when there is none. */
  readonly lastGood: string | null;
}

type Reader = Pick<EngineParts, "store" | "values">;

/** Reads a whole run and checks everything that can be checked. Damage is an answer, never an exception. */
export async function validateRun(reader: Reader, row: RunRow, upTo: number): Promise<Validation> {
  const inspection = new Inspection(reader, row);
  for await (const page of entryPages(reader.store, row.id, 1, row.seq)) await inspection.page(page);
  return inspection.end(upTo);
}

class Inspection {
  readonly #reader: Reader;
  readonly #row: RunRow;
  readonly #blobs = new BlobCheck();
  readonly #problems: Problem[] = [];
  /** Values that are not there: no damage where retention, or that of a fork's source, may have dropped them. */
  readonly #missing: Problem[] = [];
  #droppedUntil = 0;
  readonly #positions = new Set<number>();
  /** The end of the chain so far. */
  #next = 1;
  #hash = "";
  #lastEntry = 0;
  /** What the headers add up to, as long as they can be relied on. */
  #history: History | null;
  /** What the events add up to, as long as their values are there. Only snapshots are compared with it. */
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
      this.#history?.take(entry, parsed.events);
      this.#blobs.note(parsed.events);
      for (const event of parsed.events) this.#see(event);
      await this.#fold(parsed);
    }
  }

  /** Checks an entry's place in the chain and its values; `undefined` when it cannot be read at all. */
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
      this.#broken(entry.seq, whyOf(error));
      return undefined;
    }
    if (isNext && parsed.prev !== hash) this.#broken(before || 1, "The entry after it does not follow it.");
    try {
      return parseEntry(runId, entry);
    } catch (error) {
      this.#problems.push({ seq: entry.seq, problem: whyOf(error) });
      this.#state = null;
      return { ...parsed, pruned: false };
    }
  }

  /** From here on nothing can be added up any more. */
  #broken(seq: number, problem: string): void {
    this.#problems.push({ seq, problem });
    this.#history = null;
    this.#state = null;
  }

  #see(event: JournalEvent): void {
    if (isCheckpoint(event)) this.#positions.add(event.seq);
    if (event.kind === "checkpoint_tagged") this.#positions.add(event.meta.seq);
    if (event.kind === "values_dropped" || event.kind === "run_forked") this.#droppedUntil = event.seq;
  }

  async #fold({ events, pruned }: ParsedEntry): Promise<void> {
    if (pruned) {
      this.#missing.push({ seq: events[0]?.seq ?? 0, problem: "Its values are missing." });
      this.#state = null;
    }
    for (const event of events) {
      if (event.kind === "snapshot_taken") await this.#compare(event);
      this.#state?.apply(event);
    }
  }

  async #compare(event: JournalEvent & { kind: "snapshot_taken" }): Promise<void> {
    const { values } = this.#reader;
    const state = this.#state;
    if (event.meta.previous !== this.#snapshotSeq)
      this.#problems.push({ seq: event.seq, problem: "It does not name the snapshot before it." });
    this.#snapshotSeq = event.seq;
    if (!state || event.data === undefined) return;
    try {
      const stored = (await values.decode(this.#row.id, event.data)) as Snapshot;
      if (canonical(stored) === canonical(await this.#snapshotOf(state))) return;
      this.#problems.push({ seq: event.seq, problem: "The snapshot differs from what is before it." });
    } catch (error) {
      if (!HoldfastError.is(error)) throw error;
      // A value that is missing or changed is reported by itself.
      if (error.code === "HF-3011") this.#problems.push({ seq: event.seq, problem: error.message });
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

  async end(upTo: number): Promise<Validation> {
    const { id, seq, head } = this.#row;
    const { changed, missing } = await this.#blobs.check(this.#reader.store, id);
    this.#problems.push(...changed);
    this.#missing.push(...missing);
    if (this.#next <= seq) this.#broken(this.#next, "An entry is missing.");
    else if (this.#next > seq + 1 || this.#hash !== head)
      this.#broken(this.#lastEntry, "The journal does not end where the run's head says.");
    const lost = this.#missing.filter((one) => one.seq > this.#droppedUntil);
    const found = [...this.#problems, ...lost].sort((a, b) => a.seq - b.seq);
    const good = (found[0]?.seq ?? Number.POSITIVE_INFINITY) - 1;
    const positions = [...this.#positions.add(seq)].filter((one) => one <= upTo);
    const lastGood = positions.reduce((last, one) => (one <= good ? Math.max(last, one) : last), 0);
    const problems = [...found, ...this.#rowProblems()].filter((one) => one.seq <= upTo);
    return {
      ok: problems.length === 0,
      problems,
      checkpoints: positions.length,
      lastGood: lastGood === 0 ? null : addressOf(id, lastGood),
    };
  }

  /** The row is a projection: where it differs, the journal is right. */
  #rowProblems(): Problem[] {
    const run = this.#history?.run;
    if (!run) return [];
    const differs = Object.entries(run).flatMap(([key, value]) =>
      text(value) === text(this.#row[key as keyof RunRow]) ? [] : [key],
    );
    if (differs.length === 0) return [];
    return [
      { seq: this.#row.seq, problem: `The run's row differs from its journal: ${differs.join(", ")}.` },
    ];
  }
}

const text = (value: unknown): string => encode(value, { sorted: true });

const whyOf = (error: unknown): string => {
  if (HoldfastError.is(error)) return error.why;
  throw error;
};

type Node = Snapshot["root"];

/** Equal for snapshots that a restore could not tell apart: order, and places where nothing is, do not count. */
const canonical = (snapshot: Snapshot): string =>
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
