import { HoldfastError } from "../errors.ts";
import { baseName } from "../keys.ts";
import type { Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import { type Address, isCheckpoint, phaseOf } from "./address.ts";
import type { JournalEvent } from "./events.ts";
import { Facts } from "./facts.ts";
import { entryPages, headEventAt, headEvents, headsOf } from "./read.ts";

/** What is said about checkpoints after they were made. */
export interface Remarks {
  /** Only its marks and tags count here. */
  readonly facts: Facts;
  /** What the positions are called. */
  readonly names: Names;
  /** Where retention last dropped values; 0 when it has not. */
  readonly droppedAt: number;
}

/** Where a name points, and where that was said. */
interface Named {
  readonly seq: number;
  readonly said: number;
}

/** The names of checkpoints: marks carry their own, and each position may be given one afterwards. What was said last counts. */
class Names {
  readonly #marked = new Map<string, Named>();
  readonly #given = new Map<string, Named>();

  take(event: JournalEvent): void {
    if (event.kind === "checkpoint_marked")
      this.#marked.set(event.meta.label, { seq: event.seq, said: event.seq });
    // Names that were given to the source's checkpoints stay with the source.
    if (event.kind === "run_forked") this.#given.clear();
    if (event.kind !== "checkpoint_tagged" || event.meta.label === undefined) return;
    const { label, seq } = event.meta;
    const before = this.given(seq);
    if (before !== undefined) this.#given.delete(before);
    // A name that another position has is that one's no longer.
    if (label !== "") this.#given.set(label, { seq, said: event.seq });
  }

  /** The name that a position was given. */
  given(seq: number): string | undefined {
    return [...this.#given].find(([, named]) => named.seq === seq)?.[0];
  }

  find(label: string): number | undefined {
    const [marked, given] = [this.#marked.get(label), this.#given.get(label)];
    return (given?.said ?? 0) > (marked?.said ?? 0) ? given?.seq : marked?.seq;
  }
}

/** Looked for in the text first: nearly all entries can be passed over unread. */
const REMARK = /"(?:checkpoint_tagged|checkpoint_marked|values_dropped|run_forked)"/;

/** Everything said after a position; `after: 0` for all of it. */
export async function remarks(store: Store, row: RunRow, after: number): Promise<Remarks> {
  const facts = new Facts();
  const names = new Names();
  let droppedAt = 0;
  for await (const page of entryPages(store, row.id, after + 1, row.seq)) {
    for (const entry of page) {
      if (!REMARK.test(entry.head)) continue;
      for (const event of headEvents(row.id, entry)) {
        if (event.seq <= after) continue;
        facts.apply(event);
        names.take(event);
        // A fork has the values that its source had left.
        if (event.kind === "values_dropped" || event.kind === "run_forked") droppedAt = event.seq;
      }
    }
  }
  return { facts, names, droppedAt };
}

/** The names of a checkpoint: its own, if it is a mark, and the one it was given afterwards. */
export function labelsOf({ names }: Remarks, event: JournalEvent): readonly string[] {
  const own = event.kind === "checkpoint_marked" ? event.meta.label : undefined;
  return [...new Set([own, names.given(event.seq)])].filter((label) => label !== undefined);
}

export async function readRow(store: Store, runId: string): Promise<RunRow> {
  const row = await store.read(runId);
  if (!row) throw new HoldfastError("HF-1001", { run: runId });
  return row;
}

/** The position that an address names, or HF-1022. A position that was pinned or named is a checkpoint by that. */
export async function resolve(store: Store, row: RunRow, { seq, label }: Address): Promise<number> {
  if (label !== undefined) return called(store, row, label);
  if (seq === undefined || seq === row.seq) return row.seq;
  const none = (why: string) => new HoldfastError("HF-1022", { run: row.id, seq, why });
  if (seq > row.seq) throw none(`Its newest position is #${row.seq}.`);
  const event = await headEventAt(store, row.id, seq);
  if (!event) throw none("There is no entry at this position.");
  if (isCheckpoint(event) || (await remarks(store, row, seq)).facts.tags.has(seq)) return seq;
  throw none(`What is there (${event.kind}) ends nothing that could be come back to.`);
}

/** The checkpoint with this label; else `last` or `first`; else the latest of the phase or the step that is called so. */
async function called(store: Store, row: RunRow, place: string): Promise<number> {
  const { names, facts } = await remarks(store, row, 0);
  const labelled = names.find(place);
  if (labelled !== undefined) return labelled;
  if (place === "last") return row.seq;
  let [phase, byPhase, byStep]: [string, number?, number?] = [""];
  for await (const { events } of headsOf(store, row.id, 1, row.seq)) {
    for (const event of events) {
      phase = phaseOf(event) || phase;
      const { seq, step } = event;
      if (!isCheckpoint(event) && seq !== row.seq && !facts.tags.has(seq)) continue;
      if (place === "first") return seq;
      if (phase === place) byPhase = seq;
      if (step === place || baseName(step) === place) byStep = seq;
    }
  }
  const found = byPhase ?? byStep;
  if (found !== undefined) return found;
  throw new HoldfastError("HF-1022", {
    run: row.id,
    seq: place,
    why: "None of its checkpoints has this label, and no phase or step of it is called so.",
  });
}
