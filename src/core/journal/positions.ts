import { HoldfastError } from "../errors.ts";
import { baseName } from "../keys.ts";
import type { Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import { type Address, isCheckpoint, phaseOf } from "./address.ts";
import type { JournalEvent } from "./events.ts";
import { Facts } from "./facts.ts";
import { entryPages, headEventAt, headEvents, headsOf } from "./read.ts";

/** Later remarks about checkpoints. */
export interface Remarks {
  /** Only its marks and tags are used here. */
  readonly facts: Facts;
  /** The names of the positions. */
  readonly names: Names;
  /** The position of the last drop of values; 0 when there is none. */
  readonly droppedAt: number;
}

/** The position of a name, and of the event that set it. */
interface Named {
  readonly seq: number;
  readonly said: number;
}

/**
 * The names of checkpoints: marks carry their own, and each position may be named afterwards. The last event counts.
 */
class Names {
  readonly #marked = new Map<string, Named>();
  readonly #given = new Map<string, Named>();

  take(event: JournalEvent): void {
    if (event.kind === "checkpoint_marked")
      this.#marked.set(event.meta.label, { seq: event.seq, said: event.seq });
    // Names of the source's checkpoints stay with the source.
    if (event.kind === "run_forked") this.#given.clear();
    if (event.kind !== "checkpoint_tagged" || event.meta.label === undefined) return;
    const { label, seq } = event.meta;
    const before = this.given(seq);
    if (before !== undefined) this.#given.delete(before);
    // Moves the name from another position.
    if (label !== "") this.#given.set(label, { seq, said: event.seq });
  }

  /** The name that was set for a position. */
  given(seq: number): string | undefined {
    return [...this.#given].find(([, named]) => named.seq === seq)?.[0];
  }

  find(label: string): number | undefined {
    const [marked, given] = [this.#marked.get(label), this.#given.get(label)];
    return (given?.said ?? 0) > (marked?.said ?? 0) ? given?.seq : marked?.seq;
  }
}

/** Searched in the text first, so that nearly all entries can be skipped unparsed. */
const REMARK = /"(?:checkpoint_tagged|checkpoint_marked|values_dropped|run_forked)"/;

/** All remarks after a position; `after: 0` for everything. */
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

/** The names of a checkpoint: its own, if it is a mark, and the one set afterwards. */
export function labelsOf({ names }: Remarks, event: JournalEvent): readonly string[] {
  const own = event.kind === "checkpoint_marked" ? event.meta.label : undefined;
  return [...new Set([own, names.given(event.seq)])].filter((label) => label !== undefined);
}

export async function readRow(store: Store, runId: string): Promise<RunRow> {
  const row = await store.read(runId);
  if (!row) throw new HoldfastError("HF-1001", { run: runId });
  return row;
}

/**
 * The position of an address; throws HF-1022 when there is none. Pinning or naming a position makes it a checkpoint.
 */
export async function resolve(store: Store, row: RunRow, { seq, label }: Address): Promise<number> {
  if (label !== undefined) return called(store, row, label);
  if (seq === undefined || seq === row.seq) return row.seq;
  const none = (why: string) => new HoldfastError("HF-1022", { run: row.id, seq, why });
  if (seq > row.seq) throw none(`Its newest position is #${row.seq}.`);
  const event = await headEventAt(store, row.id, seq);
  if (!event) throw none("There is no entry at this position.");
  if (isCheckpoint(event) || (await remarks(store, row, seq)).facts.tags.has(seq)) return seq;
  throw none(
    `It isn't the end of a step (${event.kind.replaceAll("_", " ")}), so nothing can be restored there.`,
  );
}

/**
 * The checkpoint with this label; otherwise `last` or `first`; otherwise the latest one of the phase or step with this
 * name; otherwise `phase2`, the latest one of the run's second phase.
 */
async function called(store: Store, row: RunRow, place: string): Promise<number> {
  const { names, facts } = await remarks(store, row, 0);
  const labelled = names.find(place);
  if (labelled !== undefined) return labelled;
  if (place === "last") return row.seq;
  const phases = new Map<string, number>();
  let [phase, byStep]: [string, number?] = [""];
  for await (const { events } of headsOf(store, row.id, 1, row.seq)) {
    for (const event of events) {
      phase = phaseOf(event) || phase;
      const { seq, step } = event;
      if (!isCheckpoint(event) && seq !== row.seq && !facts.tags.has(seq)) continue;
      if (place === "first") return seq;
      if (phase !== "") phases.set(phase, seq);
      if (step === place || baseName(step) === place) byStep = seq;
    }
  }
  const found = phases.get(place) ?? byStep ?? numbered(phases, place);
  if (found !== undefined) return found;
  throw new HoldfastError("HF-1022", {
    run: row.id,
    seq: place,
    why: "None of its checkpoints has this label, and no phase or step of it has this name.",
  });
}

/** `phase2`: the second one that came to a checkpoint. */
function numbered(phases: ReadonlyMap<string, number>, place: string): number | undefined {
  const [, number] = /^phase(\d{1,6})$/.exec(place) ?? [];
  return number === undefined ? undefined : [...phases.values()][Number(number) - 1];
}
