import { isCheckpoint, parseAddress, phaseOf } from "../../journal/address.ts";
import type { EventMeta, JournalEvent, Keep } from "../../journal/events.ts";
import { Facts, type Tag } from "../../journal/facts.ts";
import { dropped } from "../../journal/journal.ts";
import { readRow, resolve } from "../../journal/positions.ts";
import { entryAt, headEvents, headsOf } from "../../journal/read.ts";
import { isUnreadable } from "../../journal/unreadable.ts";
import { isWithin } from "../../keys.ts";
import type { Store } from "../../store/contract.ts";
import type { RunRow } from "../../types.ts";

/** Where the pin of a whole run stands among those of its checkpoints: no event has this position. */
export const WHOLE_RUN = 0;

const PHASES: readonly string[] = ["phase_started", "phase_completed"];

interface Place {
  readonly seq: number;
  readonly step: string;
  readonly isLoop: boolean;
  readonly isMark: boolean;
  /** The phase that `keepPerPhase` counts it in. */
  readonly phase: string;
  /** It is listed: something has ended here, and not inside an iteration that has ended too. */
  isUnit: boolean;
}

/**
 * Which checkpoints of a run are left, as its journal tells: all of them, until a worker's claim says how many are kept from then on, or
 * retention says how many it has left. Whoever reads the journal from a position on comes to the same result for what is after it.
 */
export class KeptCheckpoints {
  /** Only its tags count here. */
  readonly #facts = new Facts();
  #places: Place[] = [];
  #rule: Keep | undefined;
  #epoch: number | undefined;
  #phase = "";
  #from: number | undefined;
  /** Nothing from before where the reading began is left, unless it is pinned. */
  isClosed = false;
  /** Phases are counted, so that the journal has to be read from its first entry. */
  isByPhase = false;

  /** `rule`: what the claim said under which the first event to come was written. */
  constructor(first?: { readonly rule: Keep | undefined; readonly epoch: number }) {
    this.#rule = first?.rule;
    this.#epoch = first?.epoch;
  }

  get tags(): ReadonlyMap<number, Tag> {
    return this.#facts.tags;
  }

  /** Positions that can be come back to, oldest first. */
  get positions(): readonly number[] {
    return this.#places.map(({ seq }) => seq);
  }

  /** Those of them that are listed. */
  get listed(): readonly number[] {
    return this.#places.filter(({ seq, isUnit }) => isUnit || this.tags.has(seq)).map(({ seq }) => seq);
  }

  /** Takes the events of the next entry. */
  take(events: readonly JournalEvent[]): void {
    const [first] = events;
    this.#from ??= first?.seq;
    const epoch = first?.epoch;
    if (epoch !== this.#epoch) [this.#epoch, this.#rule] = [epoch, ruleIn(events)];
    for (const event of events) this.#event(event);
  }

  #event(event: JournalEvent): void {
    switch (event.kind) {
      case "run_forked":
        return this.#facts.apply(event);
      case "checkpoint_tagged":
        this.#facts.apply(event);
        return this.#tagged(event.meta);
      case "values_dropped":
        if (event.meta.all) this.#places = [];
        return event.meta.keep && this.#trim(event.meta.keep);
      default:
    }
    if (event.kind === "checkpoint_marked" && PHASES.includes(event.meta.trigger))
      this.#phase = event.meta.label;
    if (!isCheckpoint(event)) return;
    const { seq, step } = event;
    const isLoop = event.kind === "loop_advanced";
    if (isLoop) this.#closeIteration(step);
    const isMark = event.kind === "checkpoint_marked";
    const phase = this.#phase || phaseOf(event);
    this.#places.push({ seq, step, isLoop, isMark, phase, isUnit: true });
    if (this.#rule) this.#trim(this.#rule);
  }

  /** A position that ends nothing is a checkpoint as long as somebody has named or pinned it. */
  #tagged({ seq, label = "", pinned = false }: EventMeta["checkpoint_tagged"]): void {
    if ((label !== "" || pinned) && seq >= (this.#from ?? 1)) this.hold(seq);
  }

  /** Counts a position among the checkpoints from here on, whatever is there. */
  hold(seq: number): void {
    const at = this.#places.findLastIndex((place) => place.seq <= seq);
    if (this.#places[at]?.seq === seq) return;
    const place = { seq, step: "", isLoop: false, isMark: true, phase: "", isUnit: false };
    this.#places.splice(at + 1, 0, place);
  }

  /** What ended inside an iteration that has ended too is not listed by itself any more. */
  #closeIteration(loop: string): void {
    for (const place of this.#places.toReversed()) {
      if (place.isLoop && place.step === loop) return;
      if (!place.isMark && isWithin(place.step, loop)) place.isUnit = false;
    }
  }

  #trim(rule: Keep): void {
    const lost = this.outside(rule);
    if (lost.size > 0) this.#places = this.#places.filter(({ seq }) => !lost.has(seq));
    if (rule.perPhase !== undefined) this.isByPhase = true;
    else if (this.#places.filter(({ isUnit }) => isUnit).length >= (rule.last ?? 0)) this.isClosed = true;
  }

  /** The positions that are left now and would not be by this rule. */
  outside({ last = 0, perPhase = 0 }: Keep): ReadonlySet<number> {
    const lost = new Set<number>();
    if (this.tags.get(WHOLE_RUN)?.pinned) return lost;
    const inPhase = new Map<string, number>();
    let units = 0;
    for (const { seq, phase, isUnit } of this.#places.toReversed()) {
      const count = inPhase.get(phase) ?? 0;
      const isKept = units < last || (isUnit && count < perPhase) || this.tags.get(seq)?.pinned;
      if (!isKept) lost.add(seq);
      if (!isUnit) continue;
      inPhase.set(phase, count + 1);
      units += 1;
    }
    return lost;
  }
}

const ruleIn = (events: readonly JournalEvent[]): Keep | undefined => {
  const claimed = events.find(({ kind }) => kind === "run_claimed");
  return claimed?.kind === "run_claimed" ? claimed.meta.keep : undefined;
};

/** Reads on from the entry that holds `from`; what is before it is not looked at. `held`: a position there that somebody asks for. */
export async function keptFrom(store: Store, row: RunRow, from: number, held?: number): Promise<Kept> {
  const events: JournalEvent[] = [];
  let kept: KeptCheckpoints | undefined;
  for await (const { events: some } of headsOf(store, row.id, from, row.seq)) {
    kept ??= new KeptCheckpoints(some[0] && (await ruleBefore(store, row.id, some[0])));
    kept.take(some);
    const isThere = held !== undefined && some.some(({ seq }) => seq === held);
    if (isThere) kept.hold(held);
    events.push(...some);
  }
  const found = { events, kept: kept ?? new KeptCheckpoints() };
  return found.kept.isByPhase && from > 1 ? keptFrom(store, row, 1, held) : found;
}

export interface Kept {
  readonly events: readonly JournalEvent[];
  readonly kept: KeptCheckpoints;
}

/** What the claim said under which an event was written: it is in the first entry of its epoch. Epochs only grow. */
async function ruleBefore(store: Store, runId: string, { seq, epoch }: JournalEvent) {
  let [low, high] = [1, seq];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const entry = await entryAt(store, runId, middle);
    const [event] = entry ? headEvents(runId, entry) : [];
    if (!entry || !event) return undefined;
    if (event.epoch < epoch) low = entry.seq + entry.count;
    else high = entry.seq;
  }
  const entry = await entryAt(store, runId, low);
  return { epoch, rule: entry && ruleIn(headEvents(runId, entry)) };
}

/** The run and the position that an address names. HF-1023 when retention has let it go. */
export async function findCheckpoint(
  { store }: { readonly store: Store },
  address: string,
): Promise<{ row: RunRow; seq: number }> {
  const place = parseAddress(address);
  const row = await readRow(store, place.runId);
  const seq = await resolve(store, row, place);
  if (!(await isLeft(store, row, seq))) throw dropped(row.id, seq);
  return { row, seq };
}

/** Whether a position has not been let go, as far as the journal can be read. The newest position never is. */
export async function isLeft(store: Store, row: RunRow, seq: number): Promise<boolean> {
  if (seq === row.seq) return true;
  try {
    return (await keptFrom(store, row, seq, seq)).kept.positions.includes(seq);
  } catch (error) {
    // Damage after it does not touch it: whoever restores it finds out whether it is whole.
    if (isUnreadable(error)) return true;
    throw error;
  }
}
