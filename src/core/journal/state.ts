import { descend, isUndo, keyOf, memberName, prefixOf, UNDO, undoKey, undoName } from "../keys.ts";
import { NO_USAGE } from "../types.ts";
import { unusedAnswers } from "./answers.ts";
import type { JournalEvent, Migrated, Raw } from "./events.ts";
import { Facts } from "./facts.ts";
import { neededMemory } from "./needed-memory.ts";
import {
  applyEdit,
  applyOutcome,
  editedRecord,
  hasActed,
  isUnfinished,
  type LoopRecord,
  type MemoryWrite,
  type NoteRecord,
  reopen,
  ScopeNode,
  type Signal,
  type StepRecord,
  signalAt,
  startedRecord,
  tookIn,
} from "./records.ts";
import { changeSteps, isUnresolved, rekey, renamedKey } from "./rename.ts";
import { release } from "./signals.ts";
import type { UnreadValues } from "./unread.ts";
import { reasonOf } from "./wait-reason.ts";

/** Fewer memory writes than this aren't worth pruning. */
const SOME = 64;

/**
 * The state of a run, folded from its journal: step records by scope and name, loop positions, the mailbox and memory.
 * Folding is pure; the same fold serves loading and running runs.
 */
export class RunState {
  readonly root = new ScopeNode();
  facts = new Facts();
  readonly signals: Signal[] = [];
  memory: MemoryWrite[] = [];
  /** Finished steps that can be undone and haven't been, with the position of their outcome. */
  readonly undoable = new Map<string, number>();
  /**
   * Children that the run has waited for since requesting them, so they exist. Known only for events since the last
   * snapshot.
   */
  readonly begun = new Set<string>();
  /** The run's input and its position. */
  input: Raw | undefined;
  /** How the run ended, when it did. */
  outcome:
    | {
        readonly seq: number;
        readonly data: Raw | undefined;
        /** Finished steps that the code didn't ask for again. */
        readonly unasked?: readonly string[] | undefined;
      }
    | undefined;
  /** The sizes of the newest snapshot and of the journal since, which decide when the next one is due. */
  snapshotBytes = 0;
  tailBytes = 0;
  /** Only a loop makes a snapshot worthwhile: it discards the records of finished iterations. */
  looping = false;
  /** Values that were left in the store when the run was restored. */
  unread: UnreadValues | undefined;
  /** The steps the run failed on. */
  failedSteps: readonly string[] = [];
  /** Original keys of steps that a migration renamed, with their call number. */
  #taken: Map<string, number> | undefined;
  /** Memory is pruned above this number of writes. */
  #mostMemory = SOME;

  /** The fold of a whole journal. */
  static of(events: readonly JournalEvent[]): RunState {
    const state = new RunState();
    for (const event of events) state.apply(event);
    return state;
  }

  apply(event: JournalEvent): void {
    this.facts.apply(event);
    switch (event.kind) {
      case "run_created":
        this.input = event.data;
        return;
      case "run_completed":
        this.outcome = { seq: event.seq, data: event.data, unasked: event.meta.unasked };
        return;
      case "run_failed":
        this.outcome = { seq: event.seq, data: event.data };
        this.failedSteps = event.meta.steps;
        return;
      case "run_waiting":
        for (const wait of event.meta.waiting) {
          const { child } = reasonOf(wait);
          if (wait.kind === "child" && child !== undefined) this.begun.add(child);
        }
        return;
      case "run_resumed":
        this.begun.clear();
        this.#reopen(event.meta.retryFailed ?? false);
        if (event.meta.now) this.#hurry(event.at);
        return;
      case "signal_received":
        this.signals.push({ seq: event.seq, ...event.meta, at: event.at, data: event.data, taken: false });
        return;
      case "value_edited":
        this.#edit(event);
        return;
      case "run_forked":
        this.#fork(event);
        return;
      case "run_migrated":
        this.#migrate(event.meta);
        return;
      case "run_imported":
        this.begun.clear();
        this.#forgetAnswers();
        return;
      default:
        this.#applyStep(event);
    }
  }

  /** Applies events at a place in the workflow: steps, iterations and notes. */
  #applyStep(event: JournalEvent): void {
    switch (event.kind) {
      case "memory_written":
        this.memory.push({ seq: event.seq, step: event.step, name: event.meta.name, data: event.data });
        this.#note(event);
        if (this.memory.length > this.#mostMemory) this.#forgetMemory();
        return;
      case "value_recorded":
      case "usage_recorded":
      case "decision_made":
      case "agent_updated":
      case "plan_made":
      case "checkpoint_marked":
        this.#note(event);
        return;
      case "signals_taken":
        if (!event.meta.kept) for (const seq of event.meta.took) this.#take(seq);
        this.#note(event);
        return;
      case "content_checked":
      case "stream_written":
        return;
      case "loop_advanced":
        this.#advance(event);
        return;
      default:
        if (event.step !== "") this.#step(event);
    }
  }

  #take(seq: number): void {
    const signal = signalAt(this.signals, seq);
    if (signal) signal.taken = true;
  }

  #release(seq: number): void {
    const signal = signalAt(this.signals, seq);
    if (signal) release(signal);
  }

  /** Discards writes that nothing asks for any more, whenever there are twice as many as needed. */
  #forgetMemory(): void {
    this.memory = neededMemory(this);
    this.#mostMemory = 2 * this.memory.length + SOME;
  }

  /** The record of a step by its full key. */
  find(key: string): StepRecord | undefined {
    let node: ScopeNode | undefined = this.root;
    const name = descend(key, (segment) => {
      node = node?.scopes.get(segment);
    });
    return node?.records.get(name);
  }

  /** Sets the record of a step by its full key. */
  put(key: string, record: StepRecord): void {
    const { node, name } = this.#place(key);
    node.records.set(name, record);
  }

  /** The key that a step's idempotency key is derived from: receivers know it by its original key. */
  firstKey(key: string): string {
    return this.find(key)?.first ?? key;
  }

  /** The current key of a step that began under `first`: a migration may have renamed it. */
  keyNow(first: string): string {
    let ended: string | undefined;
    for (const [key, record] of this.steps()) {
      if ((record.first ?? key) !== first) continue;
      // A new step may have begun under a name that an earlier one gave away.
      if (record.status === "started" || record.status === "in_doubt") return key;
      ended ??= key;
    }
    return ended ?? first;
  }

  /** The original key of a place without a record. */
  firstPlace(key: string): string {
    let node: ScopeNode | undefined = this.root;
    const segments: string[] = [];
    const name = descend(key, (segment) => {
      node = node?.scopes.get(segment);
      segments.push(node?.was ?? segment);
    });
    return keyOf([...segments, name]);
  }

  /** The call number of a new step: a step that has been renamed since may have begun under this key. */
  freeCall(key: string): number {
    if (!this.#taken) {
      this.#taken = new Map();
      for (const [, { first, call }] of this.steps())
        if (first !== undefined) this.#taken.set(first, Math.max(call, this.#taken.get(first) ?? 0));
    }
    return (this.#taken.get(key) ?? 0) + 1;
  }

  /** The record of a loop by its full key, created on first use. */
  loop(key: string): LoopRecord {
    this.looping = true;
    const { node, name } = this.#place(key);
    let loop = node.loops.get(name);
    if (!loop) node.loops.set(name, (loop = { iteration: 0, done: false, seq: 0, changes: [], live: false }));
    return loop;
  }

  /** Every step record with its full key, in no particular order. */
  *steps(node: ScopeNode = this.root, prefix = ""): Generator<[string, StepRecord]> {
    for (const [name, record] of node.records) yield [prefix + name, record];
    for (const [segment, scope] of node.scopes) yield* this.steps(scope, prefix + prefixOf(segment));
  }

  /** Every loop with its full key. */
  *loops(node: ScopeNode = this.root, prefix = ""): Generator<[string, LoopRecord]> {
    for (const [name, loop] of node.loops) yield [prefix + name, loop];
    for (const [segment, scope] of node.scopes) yield* this.loops(scope, prefix + prefixOf(segment));
  }

  #reopen(all: boolean): void {
    reopen(this.steps(), this.failedSteps, all);
    this.outcome = undefined;
    this.failedSteps = [];
  }

  /** Retries now, regardless of a policy's or a receiver's delay. */
  #hurry(at: number): void {
    for (const [, record] of this.steps()) {
      if (record.retryAt !== undefined) record.retryAt = Math.min(record.retryAt, at);
      record.notBefore = undefined;
    }
  }

  #place(key: string): { node: ScopeNode; name: string } {
    let node = this.root;
    const name = descend(key, (segment) => {
      node = node.child(segment);
    });
    return { node, name };
  }

  #finished(key: string, record: StepRecord): void {
    if (record.undo) this.undoable.set(key, record.seq);
    if (!isUndo(key)) return;
    for (const step of this.undoable.keys()) if (undoKey(step) === key) this.undoable.delete(step);
  }

  #note(event: JournalEvent): void {
    if (event.step === "") return;
    const { node, name } = this.#place(event.step);
    const note: NoteRecord = { seq: event.seq };
    // The value of a mark is a record, which no replay reads.
    if (event.kind !== "checkpoint_marked") note.data = event.data;
    if (event.kind === "value_recorded") note.value = event.meta.value;
    if (event.kind === "signals_taken") note.took = event.meta.took;
    node.notes.set(name, note);
  }

  #edit(event: JournalEvent & { kind: "value_edited" }): void {
    const { data, step } = event;
    const { what } = event.meta;
    if (what === "input") this.input = data;
    if (what === "loop" && data !== undefined) this.loop(step).changes.push(data);
    if (what !== "step") return;
    const { node, name } = this.#place(step);
    // A fork has discarded the failures that it was made to fix.
    const record = node.records.get(name) ?? editedRecord(event);
    applyEdit(record, event);
    node.records.set(name, record);
  }

  /**
   * Calls in progress at the fork, and failures that failed the run, count as never begun in this run. This run doesn't
   * undo the source's work, and the source's usage stays with the source.
   */
  #fork({ meta }: JournalEvent & { kind: "run_forked" }): void {
    this.undoable.clear();
    this.begun.clear();
    this.facts.usage = NO_USAGE;
    this.facts.turns = 0;
    this.#reopen(false);
    for (const [key, record] of this.steps()) {
      if (!isUnfinished(record)) continue;
      const { node, name } = this.#place(key);
      node.records.delete(name);
      if (record.child === undefined) continue;
      const failed = record.status === "failed" ? { failed: true as const } : {};
      this.facts.childForks.set(key, { runId: record.child, at: meta.at, ...failed });
    }
  }

  /** Unused answers of people were meant for someone else. */
  #forgetAnswers(): void {
    for (const key of unusedAnswers(this)) {
      const { node, name } = this.#place(key);
      node.records.delete(name);
    }
  }

  #migrate(change: Migrated): void {
    const to = (key: string): string => renamedKey(key, change);
    for (const [key, record] of change.renamed ? this.steps() : []) if (to(key) !== key) record.first ??= key;
    changeSteps(this.root, change);
    this.#renameUndos(to);
    rekey(this.undoable, to);
    this.failedSteps = this.failedSteps.map(to);
    for (const [index, write] of this.memory.entries())
      this.memory[index] = { ...write, step: to(write.step) };
    this.#taken = undefined;
    if (!change.asIs) return;
    for (const [, record] of this.steps()) if (!isUnresolved(record)) record.waived = true;
    for (const [, loop] of this.loops()) loop.acted = false;
  }

  /** An undo in progress moves with its step. */
  #renameUndos(to: (key: string) => string): void {
    const undos = this.root.scopes.get(UNDO)?.records;
    const moved = [...(undos ? this.undoable.keys() : [])].flatMap((step) => {
      const record = undos?.get(undoName(step));
      undos?.delete(undoName(step));
      return record ? [{ step, record }] : [];
    });
    for (const { step, record } of moved) {
      if (to(step) !== step) record.first ??= undoKey(step);
      undos?.set(undoName(to(step)), record);
    }
  }

  #advance(event: JournalEvent & { kind: "loop_advanced" }): void {
    const { node, name } = this.#place(event.step);
    const loop = this.loop(event.step);
    // The loop itself may be one advance ahead of what is durable.
    loop.iteration = Math.max(loop.iteration, event.meta.iteration + 1);
    if (event.meta.done) loop.done = true;
    loop.seq = event.seq;
    if (event.data !== undefined && !loop.live) loop.changes.push(event.data);
    // Steps inside a finished iteration are never asked for again.
    const { iteration, count = 1 } = event.meta;
    for (let index = iteration - count + 1; index <= iteration; index++) {
      const segment = memberName(name, index);
      const scope = node.scopes.get(segment);
      loop.acted ||= hasActed(scope);
      for (const seq of scope ? tookIn(scope) : []) this.#release(seq);
      if (scope) this.#keepUnknown(scope, prefixOf(memberName(event.step, index)));
      node.scopes.delete(segment);
    }
  }

  /**
   * A call that an iteration didn't wait for may have happened: it must be undone, whatever happens to the iteration.
   */
  #keepUnknown(scope: ScopeNode, prefix: string): void {
    for (const [key, { undo, status, seq }] of this.steps(scope, prefix))
      if (undo && (status === "started" || status === "in_doubt")) this.undoable.set(key, seq);
  }

  #step(event: JournalEvent): void {
    if (event.kind === "step_started") {
      if (event.meta.child !== undefined) this.begun.delete(event.meta.child);
      const { node, name } = this.#place(event.step);
      node.records.set(name, startedRecord(event.meta, event, node.records.get(name)));
      return;
    }
    // An outcome under a name that no step has any more makes no place: a migration could move another one's steps onto it.
    const record = this.find(event.step);
    if (!record) return;
    applyOutcome(record, event, this.signals);
    if (event.kind === "step_resolved") this.#taken = undefined;
    if (record.status === "completed") this.#finished(event.step, record);
  }
}
