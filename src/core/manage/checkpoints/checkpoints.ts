import { checkFlag, checkKeys, checkWhole } from "../../check-options.ts";
import { type Reading, recordReading } from "../../control/reading.ts";
import { defined } from "../../defined.ts";
import { HoldfastError } from "../../errors.ts";
import { checkId } from "../../ids.ts";
import { because, checkActOptions, type NamedAct, plan } from "../../journal/act.ts";
import { addressOf, checkLabel, parseAddress, phaseOf, triggerOf } from "../../journal/address.ts";
import { isLosingAll } from "../../journal/dropped.ts";
import type { EventKind, JournalEvent } from "../../journal/events.ts";
import { dropped } from "../../journal/journal.ts";
import { actOn, type EngineParts } from "../../journal/parts.ts";
import { labelsOf, type Remarks, readRow, remarks, resolve } from "../../journal/positions.ts";
import { RowFold } from "../../journal/row-fold.ts";
import { checkSeen } from "../../journal/seen-position.ts";
import { onDemand } from "../../on-demand.ts";
import { checkLimit } from "../../store/query.ts";
import type { RunRow, StateView } from "../../types.ts";
import type { Checkpoint } from "./checkpoint-view.ts";
import type { Conversation, ConversationQuery } from "./conversation.ts";
import type { CheckpointDiff } from "./diff.ts";
import type { TaskDone } from "./ended-steps.ts";
import type { Kept } from "./kept.ts";
import type { PreviewOptions, StatePreview } from "./state-preview.ts";
import type { Validation } from "./validate.ts";

const looking = onDemand(() => import("./looking.ts"));

/** A checkpoint in a list: the content of its head. */
export interface CheckpointItem {
  /** Its address, `run@seq`. */
  readonly id: string;
  readonly seq: number;
  readonly at: number;
  readonly kind: EventKind;
  readonly step: string;
  readonly phase: string;
  readonly trigger: string;
  readonly actor?: string;
  readonly labels: readonly string[];
  readonly pinned: boolean;
}

/** The number of events per read when searching backwards from the end of a journal. */
const WINDOW = 200;
const MOST_ITEMS = 1_000;

/**
 * The checkpoints of runs: lists, shows, compares, verifies, names and pins them. An address is `run@seq`, `run@label`,
 * `run@first`, `run@last`, `run@phase`, `run@step` (the latest of it), or `run` for its newest position.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 *
 * export async function lastDecision(engine: Engine, runId: string): Promise<string | undefined> {
 *   const [newest] = await engine.checkpoints.list(runId, { limit: 1 });
 *   if (!newest) return undefined;
 *   await engine.checkpoints.pin(newest.id, { actor: "Ada", reason: "for the audit" });
 *   return (await engine.checkpoints.show(newest.id)).decisions.at(-1)?.description;
 * }
 * ```
 */
export class Checkpoints {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /**
   * The checkpoints that can be restored, newest first: one for each step, iteration, gate or child that has ended,
   * each mark, and each named or pinned position. `all` includes what ended inside finished steps and iterations, and
   * the newest position. To get the next page, pass the last position of this one as `before`.
   */
  async list(
    runId: string,
    options: { readonly limit?: number; readonly before?: number; readonly all?: boolean } = {},
  ): Promise<readonly CheckpointItem[]> {
    checkId(runId);
    checkKeys(options, ["limit", "before", "all"]);
    const { limit = 50, before, all = false } = options;
    checkFlag("all", all);
    checkLimit(limit, MOST_ITEMS);
    if (before !== undefined) checkWhole("before", before);
    const { store } = this.#parts;
    const row = await readRow(store, runId);
    if (await isLosingAll(store, row)) return [];
    const { events, kept } = await this.#readBack(row, { before: before ?? row.seq + 1, limit, all });
    const said = await remarks(store, row, (events[0]?.seq ?? 1) - 1);
    const wanted = new Set(all ? [...kept.positions, row.seq] : kept.listed);
    let phase = "";
    const items: CheckpointItem[] = [];
    for (const event of events) {
      phase = phaseOf(event) || phase;
      const isOld = before === undefined || event.seq < before;
      if (isOld && wanted.has(event.seq)) items.push(itemOf(row.id, event, phase, said));
    }
    const page: CheckpointItem[] = [];
    for (const item of items.reverse()) {
      if (page.length === limit) break;
      if (await this.#isKept(row, item.seq, said)) page.push(item);
    }
    return page;
  }

  /**
   * Reads back from the end until there are `limit` checkpoints before a position, and the phase of the oldest is
   * known.
   */
  async #readBack(
    row: RunRow,
    { before, limit, all }: { readonly before: number; readonly limit: number; readonly all: boolean },
  ): Promise<Kept> {
    for (let from = before; ; ) {
      from = Math.max(1, from - WINDOW);
      const found = await (await looking()).keptFrom(this.#parts.store, row, from);
      const { kept, events } = found;
      const count = (all ? kept.positions : kept.listed).filter((seq) => seq < before).length;
      const isEnough = (count >= limit && phaseOf(events[0] as JournalEvent) !== "") || kept.isClosed;
      if (from === 1 || events[0]?.seq === 1 || (isEnough && !row.pinned)) return found;
    }
  }

  async #isKept(row: RunRow, seq: number, { droppedAt }: Remarks): Promise<boolean> {
    if (droppedAt <= seq) return true;
    try {
      await (await looking()).digestAt(this.#parts, row, seq);
      return true;
    } catch (error) {
      if (HoldfastError.is(error)) return false;
      throw error;
    }
  }

  /**
   * Resolves an address to a position, as `run@14`. An address is a run (its newest position), or a run and, after `@`,
   * a position, a label, `first`, `last`, or the name of a phase or step (the latest of it).
   */
  async find(address: string): Promise<string> {
    const { row, seq } = await this.#find(address);
    return addressOf(row.id, seq);
  }

  /** Everything known about the run at this position. */
  async show(address: string): Promise<Checkpoint> {
    const { row, seq } = await this.#find(address);
    return (await looking()).readCheckpoint(this.#parts, row, seq);
  }

  /** Its finished tasks, with their results, times and durations. */
  async tasks(address: string): Promise<readonly TaskDone[]> {
    const { row, seq } = await this.#find(address);
    return (await looking()).readTasks(this.#parts, row, seq);
  }

  /** Shows the values there to somebody who says who and why; that they are read is recorded first (HF-6064 without). */
  async reveal(address: string, reader: Omit<Reading, "what">): Promise<Checkpoint> {
    const { row, seq } = await this.#read(address, reader);
    return (await looking()).readCheckpoint(this.#parts, row, seq);
  }

  /**
   * The values there, each cut to its beginning: for pages, however large they are. That they are read is recorded
   * first.
   */
  async preview(
    address: string,
    reader: Omit<Reading, "what">,
    options: PreviewOptions = {},
  ): Promise<StatePreview & Pick<Checkpoint, "id" | "run" | "seq">> {
    const { row, seq } = await this.#read(address, reader);
    const { previewState, stateAt } = await looking();
    const state = await stateAt(this.#parts, row, seq);
    const shown = await previewState(this.#parts.values, row, state, options);
    return { id: addressOf(row.id, seq), run: row.id, seq, ...shown };
  }

  /** The conversation of an agent there, one page at a time. That it is read is recorded first. */
  async conversation(
    address: string,
    reader: Omit<Reading, "what">,
    query: ConversationQuery = {},
  ): Promise<Conversation> {
    const { row, seq } = await this.#read(address, reader);
    const { conversationIn, stateAt, viewLoops } = await looking();
    const state = await stateAt(this.#parts, row, seq);
    return conversationIn(await viewLoops(this.#parts.values, row.id, state), query);
  }

  async #find(address: string): Promise<{ readonly row: RunRow; readonly seq: number }> {
    return (await looking()).findCheckpoint(this.#parts, address);
  }

  async #read(
    address: string,
    reader: Omit<Reading, "what">,
  ): Promise<{ readonly row: RunRow; readonly seq: number }> {
    const { row, seq } = await this.#find(address);
    await recordReading(this.#parts, row.id, { ...reader, what: `state at #${seq}` });
    return { row, seq };
  }

  /** Only its state: input, config, memory, loop states, step results. */
  async state(address: string): Promise<StateView> {
    const { row, seq } = await this.#find(address);
    const { viewAt } = await looking();
    return (await viewAt(this.#parts, row, seq)).view;
  }

  /**
   * Like `state`, for a program that resumes the run at once: the worker of this process continues with what was read
   * here, if this is the newest position, and doesn't read it again. Don't change what it returns.
   */
  async stateToContinue(address: string): Promise<StateView> {
    const { row, seq } = await this.#find(address);
    const { stateAt, viewToContinue } = await looking();
    const fold = new RowFold(row);
    const state = await stateAt(this.#parts, row, seq, fold);
    const view = await viewToContinue(this.#parts.values, row.id, state);
    if (seq === row.seq && this.#parts.justRead.hold({ row, state, fold })) return view;
    this.#parts.values.forget(row.id);
    return view;
  }

  /** Equal for equal states of any run. */
  async digest(address: string): Promise<string> {
    const { row, seq } = await this.#find(address);
    return (await looking()).digestAt(this.#parts, row, seq);
  }

  /** The differences between two checkpoints, of one run or of two. */
  async diff(from: string, to: string): Promise<CheckpointDiff> {
    // Loaded on demand, because it needs a library that most processes never use.
    const { diffCheckpoints } = await import("./diff.ts");
    return diffCheckpoints(await this.show(from), await this.show(to));
  }

  /**
   * Checks a run from its first entry to its last, or only what matters for one checkpoint. Reports damage instead of
   * throwing it.
   */
  async validate(address: string): Promise<Validation> {
    const parsed = parseAddress(address);
    const row = await readRow(this.#parts.store, parsed.runId);
    const isWhole = parsed.seq === undefined && parsed.label === undefined;
    const upTo = isWhole ? Number.POSITIVE_INFINITY : await resolve(this.#parts.store, row, parsed);
    return (await looking()).validateRun(this.#parts, row, upTo, !isWhole);
  }

  /** Pins a checkpoint, so that retention keeps its values. Returns its address. */
  pin(address: string, act: NamedAct = {}): Promise<string> {
    return this.#tag(address, { pinned: true }, act);
  }

  unpin(address: string, act: NamedAct = {}): Promise<string> {
    return this.#tag(address, { pinned: false }, act);
  }

  /**
   * Names a checkpoint, replacing an earlier name and taking the name from any other checkpoint of the run. Returns its
   * address.
   */
  async label(address: string, label: string, act: NamedAct = {}): Promise<string> {
    checkLabel(label);
    return this.#tag(address, { label }, act);
  }

  /** Removes the name that was set for a checkpoint. The name of a mark stays. Returns its address. */
  unlabel(address: string, act: NamedAct = {}): Promise<string> {
    return this.#tag(address, { label: "" }, act);
  }

  async #tag(
    text: string,
    tag: { readonly label?: string; readonly pinned?: boolean },
    act: NamedAct,
  ): Promise<string> {
    const { store } = this.#parts;
    const address = parseAddress(text);
    checkActOptions(act);
    let position: number | undefined;
    await actOn(this.#parts, address.runId, async (row) => {
      await checkSeen(store, row, act);
      // Resolved once: on a retry the newest position would be another one.
      const seq = (position ??= await resolve(store, row, address));
      const said = await remarks(store, row, 0);
      const { tags } = said.facts;
      const known = { label: said.names.given(seq) ?? "", pinned: tags.get(seq)?.pinned ?? false };
      if ((tag.pinned ?? known.pinned) === known.pinned && (tag.label ?? known.label) === known.label)
        return null;
      const isKept = async () =>
        !(await isLosingAll(store, row)) &&
        (await (await looking()).isLeft(store, row, seq)) &&
        (await this.#isKept(row, seq, said));
      const isAdded = tag.pinned === true || (tag.label ?? "") !== "";
      if (isAdded && !(await isKept())) throw dropped(row.id, seq);
      tags.set(seq, { ...known, ...tag });
      const pins = [...tags.values()].filter(({ pinned }) => pinned).length;
      return plan({ kind: "checkpoint_tagged", step: "", meta: { seq, ...tag, pins, ...because(act) } }, act);
    });
    return addressOf(address.runId, position as number);
  }

  /** Marks the run's current state as a checkpoint, and returns its address. */
  async mark(runId: string, label: string, act: NamedAct = {}): Promise<string> {
    checkId(runId);
    checkLabel(label);
    checkActOptions(act);
    const row = await actOn(this.#parts, runId, async (row) => {
      if (await isLosingAll(this.#parts.store, row)) throw dropped(row.id, row.seq);
      const meta = { label, trigger: "user_requested" };
      return plan({ kind: "checkpoint_marked", step: "", meta }, act);
    });
    return addressOf(runId, row.seq);
  }
}

function itemOf(runId: string, event: JournalEvent, phase: string, said: Remarks): CheckpointItem {
  const { seq, at, kind, step, actor } = event;
  return {
    id: addressOf(runId, seq),
    seq,
    at,
    kind,
    step,
    phase,
    trigger: triggerOf(event),
    ...defined({ actor }),
    labels: labelsOf(said, event),
    pinned: said.facts.tags.get(seq)?.pinned ?? false,
  };
}
