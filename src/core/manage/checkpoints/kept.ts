import { isCheckpoint, parseAddress, phaseOf } from "../../journal/address.ts";
import type { EventMeta, JournalEvent, Keep } from "../../journal/events.ts";
import { Facts, type Tag } from "../../journal/facts.ts";
import { dropped } from "../../journal/journal.ts";
import { readRow, resolve } from "../../journal/positions.ts";
import { entryAt, headEvents, headsOf } from "../../journal/read.ts";
import { isUnreadable } from "../../journal/unreadable.ts";
import { around, firstSegment, isAtTop, isWithin } from "../../keys.ts";
import type { Store } from "../../store/contract.ts";
import type { RunRow } from "../../types.ts";

/** The position that stands for a pin of the whole run: no event has it. */
export const WHOLE_RUN = 0;

const PHASES: readonly string[] = ["phase_started", "phase_completed"];

interface Place {
  readonly seq: number;
  readonly at: number;
  readonly step: string;
  readonly isLoop: boolean;
  readonly isMark: boolean;
  /** The phase in which `keepPerPhase` counts it. */
  readonly phase: string;
  /** What it is part of: the iteration, branch or step that holds it; "" for none, and for marks. */
  readonly part: string;
  /** True when it is listed: something has ended here, outside of any finished iteration or step. */
  isUnit: boolean;
}

/**
 * The checkpoints of a run that are left, according to its journal: all of them, until a worker's claim says how many
 * are kept from then on, or retention says how many it has left. Reading the journal from any position gives the same
 * result for what follows it.
 */
export class KeptCheckpoints {
  /** Only its tags are used here. */
  readonly #facts = new Facts();
  #places: Place[] = [];
  #rule: Keep | undefined;
  #epoch: number | undefined;
  #phase = "";
  #isTeam = false;
  #from: number | undefined;
  #isTrimmed = false;
  /** The number of positions inside of each step, iteration or branch under way. */
  readonly #inside = new Map<string, number>();
  /** Nothing before the start of the reading is left, unless it is pinned. */
  isClosed = false;
  /** Phases are counted, so the journal must be read from its first entry. */
  isByPhase = false;

  /** `rule`: the rule of the claim under which the first event was written. */
  constructor(first?: { readonly rule: Keep | undefined; readonly epoch: number }) {
    this.#rule = first?.rule;
    this.#epoch = first?.epoch;
  }

  get tags(): ReadonlyMap<number, Tag> {
    return this.#facts.tags;
  }

  /** Positions that can be restored, oldest first. */
  get positions(): readonly number[] {
    return this.#places.map(({ seq }) => seq);
  }

  /** Those of them that are listed. */
  get listed(): readonly number[] {
    const counted = this.#isTrimmed ? this.#counted() : undefined;
    return this.#places
      .filter(({ seq, isUnit }) => (counted ? counted.has(seq) : isUnit) || this.tags.has(seq))
      .map(({ seq }) => seq);
  }

  /**
   * The positions that a rule counts. Those inside of something that is still under way count as one, the newest: when it
   * ends, its own checkpoint takes their place.
   */
  #counted(): ReadonlySet<number> {
    const parts = new Set<string>();
    const counted = this.#places.toReversed().filter(({ isUnit, part }) => {
      if (!isUnit || parts.has(part)) return false;
      if (part !== "") parts.add(part);
      return true;
    });
    return new Set(counted.map(({ seq }) => seq));
  }

  /** Adds the events of the next entry. */
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
    if (event.kind === "checkpoint_marked") this.#enterPhase(event);
    if (!isCheckpoint(event)) return;
    const { seq, step, at } = event;
    const isLoop = event.kind === "loop_advanced";
    if (isLoop) this.#closeIteration(step);
    else this.#closeStep(step);
    const isMark = event.kind === "checkpoint_marked";
    // A mark right after an iteration has the same state: the two are one checkpoint.
    const before = this.#places.at(-1);
    if (isMark && before?.isLoop && before.seq === seq - 1) before.isUnit = false;
    const phase = this.#phase || phaseOf(event);
    const part = isMark || isAtTop(step) ? "" : firstSegment(step);
    if (!isMark)
      for (const holder of around(step)) this.#inside.set(holder, (this.#inside.get(holder) ?? 0) + 1);
    this.#places.push({ seq, at, step, isLoop, isMark, phase, part, isUnit: true });
    if (this.#rule) this.#trim(this.#rule);
  }

  /** A phase is called as its mark is. The phases of a team are loops, and each of them has marks of many names. */
  #enterPhase(mark: JournalEvent & { readonly kind: "checkpoint_marked" }): void {
    const { label, trigger, record } = mark.meta;
    const loop = record === "phase_checkpoints" ? phaseOf(mark) : "";
    this.#isTeam ||= loop !== "";
    if (loop !== "") this.#phase = loop;
    else if (!this.#isTeam && PHASES.includes(trigger)) this.#phase = label;
  }

  /** A position that ends nothing is a checkpoint as long as it is named or pinned. */
  #tagged({ seq, label = "", pinned = false }: EventMeta["checkpoint_tagged"]): void {
    if ((label !== "" || pinned) && seq >= (this.#from ?? 1)) this.hold(seq);
  }

  /** Counts a position as a checkpoint from here on, whatever is there. */
  hold(seq: number): void {
    const before = this.#places.findLastIndex((place) => place.seq <= seq);
    const { seq: known, at = 0 } = this.#places[before] ?? {};
    if (known === seq) return;
    const place = { seq, at, step: "", isLoop: false, isMark: true, phase: "", part: "", isUnit: false };
    this.#places.splice(before + 1, 0, place);
  }

  /** Positions inside a finished iteration are no longer listed separately. */
  #closeIteration(loop: string): void {
    for (const place of this.#places.toReversed()) {
      if (place.isLoop && place.step === loop) return;
      if (place.isMark || !isWithin(place.step, loop)) continue;
      place.isUnit = false;
      for (const holder of around(place.step)) if (isWithin(holder, loop)) this.#inside.delete(holder);
    }
  }

  /** Neither are those inside a finished step. */
  #closeStep(step: string): void {
    let left = this.#inside.get(step) ?? 0;
    this.#inside.delete(step);
    for (let at = this.#places.length - 1; left > 0 && at >= 0; at--) {
      const place = this.#places[at];
      if (!place || place.isMark || !place.step.startsWith(`${step}/`)) continue;
      place.isUnit = false;
      left -= 1;
    }
  }

  #trim(rule: Keep): void {
    this.#isTrimmed ||= isCounting(rule);
    const lost = this.outside(rule);
    if (lost.size > 0) this.#places = this.#places.filter(({ seq }) => !lost.has(seq));
    if (rule.perPhase !== undefined) this.isByPhase = true;
    else if (rule.last !== undefined && this.#counted().size >= rule.last) this.isClosed = true;
  }

  /** The remaining positions that this rule would drop. */
  outside(rule: Keep): ReadonlySet<number> {
    const { last = 0, perPhase = 0, after = -Infinity } = rule;
    const lost = new Set<number>();
    if (this.tags.get(WHOLE_RUN)?.pinned) return lost;
    const inPhase = new Map<string, number>();
    const counted = this.#counted();
    let units = 0;
    for (const { seq, at, phase } of this.#places.toReversed()) {
      const count = inPhase.get(phase) ?? 0;
      const isAmong = !isCounting(rule) || units < last || (counted.has(seq) && count < perPhase);
      const isKept = isAmong && (at >= after || units === 0);
      if (!isKept && !this.tags.get(seq)?.pinned) lost.add(seq);
      if (!counted.has(seq)) continue;
      inPhase.set(phase, count + 1);
      units += 1;
    }
    return lost;
  }
}

const isCounting = ({ last, perPhase }: Keep): boolean => last !== undefined || perPhase !== undefined;

const ruleIn = (events: readonly JournalEvent[]): Keep | undefined => {
  const claimed = events.find(({ kind }) => kind === "run_claimed");
  return claimed?.kind === "run_claimed" ? claimed.meta.keep : undefined;
};

/**
 * Reads on from the entry that holds `from`, ignoring what is before it. `held`: a position there that is asked for.
 */
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

/** The rule of the claim under which an event was written: it is in the first entry of its epoch. Epochs only grow. */
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

/** The run and the position of an address. Throws HF-1023 when retention has dropped it. */
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

/** True when a position hasn't been dropped, as far as the journal can be read. The newest position never is. */
export async function isLeft(store: Store, row: RunRow, seq: number): Promise<boolean> {
  if (seq === row.seq) return true;
  try {
    return (await keptFrom(store, row, seq, seq)).kept.positions.includes(seq);
  } catch (error) {
    // Damage after it doesn't affect it; restoring it shows whether it is intact.
    if (isUnreadable(error)) return true;
    throw error;
  }
}
