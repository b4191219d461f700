import type { Memory } from "../context.ts";
import { checkMemoryDeclared, fitMemory } from "../declared-checks.ts";
import { inspectMemory } from "../guards/inspector.ts";
import { decidedAt, type MemoryWrite } from "../journal/records.ts";
import type { RunState } from "../journal/state.ts";
import { around, memoryNote } from "../keys.ts";
import { checkMemoryKey } from "../names.ts";
import { decode } from "../values/codec.ts";
import type { ActiveRun } from "./active-run.ts";
import { place } from "./scope.ts";

/**
 * Working memory as the body sees it. A replay rebuilds it at the body's pace: a recorded write applies its recorded
 * value, and a step or iteration answered from the journal applies the writes made inside it.
 */
export class RunMemory implements Memory {
  readonly #execution: ActiveRun;
  readonly #values = new Map<string, unknown>();
  readonly #recorded = new Map<number, unknown>();
  /** Recorded writes by the steps they were made in. */
  readonly #inside = new Map<string, MemoryWrite[]>();
  readonly #bySeq = new Map<number, MemoryWrite>();
  #writes: readonly MemoryWrite[] = [];
  /** Writes from outside that the body hasn't reached yet, and the recorded position after which each counts. */
  #edits: Edit[] = [];
  /** The positions of the edits that already count, by name. */
  readonly #edited = new Map<string, number>();

  constructor(execution: ActiveRun) {
    this.#execution = execution;
  }

  /** Reads the recorded writes, so that memory can answer synchronously later. */
  async load(): Promise<void> {
    const { state, deps, runId } = this.#execution;
    this.#writes = [...state.memory];
    for (const write of this.#writes) {
      this.#bySeq.set(write.seq, write);
      for (const step of around(write.step)) {
        const writes = this.#inside.get(step);
        if (writes) writes.push(write);
        else this.#inside.set(step, [write]);
      }
      if (write.data === undefined) continue;
      const value = await this.#execution.read(() => deps.values.decode(runId, write.data));
      this.#recorded.set(write.seq, await inspectMemory(this.#execution, write, value));
    }
    const edits = this.#writes.filter((write) => write.step === "");
    if (edits.length === 0) return;
    const known = recordedPositions(state);
    this.#edits = edits.map((write) => ({ write, after: lastBefore(known, write.seq) }));
    this.met(0);
  }

  /** Called when the body reaches the record at `seq`: outside changes right after it count now. */
  met(seq: number): void {
    while (this.#edits[0] && this.#edits[0].after <= seq) this.#apply((this.#edits.shift() as Edit).write);
  }

  /** Called when the body does something new: all records are behind it. */
  live(): void {
    if (this.#edits.length > 0) this.met(Number.POSITIVE_INFINITY);
  }

  get<T>(key: string): T | undefined {
    checkMemoryDeclared(this.#execution.workflow, key);
    return this.#values.get(key) as T | undefined;
  }

  keys(): string[] {
    return [...this.#values.keys()];
  }

  set(key: string, value: unknown): void {
    this.#write(key, { value });
  }

  delete(key: string): void {
    this.#write(key, undefined);
  }

  #write(key: string, change: { value: unknown } | undefined): void {
    checkMemoryKey(key);
    this.#execution.enterNow();
    const scope = this.#execution.scope();
    const at = place(scope, memoryNote(key));
    const note = scope.node?.notes.get(at.name);
    const recorded = note && this.#bySeq.get(note.seq);
    if (recorded) {
      this.#apply(recorded);
      return this.met(recorded.seq);
    }
    checkMemoryDeclared(this.#execution.workflow, key);
    const value = change && fitMemory(this.#execution.workflow, key, change.value);
    this.live();
    if (!change) {
      this.#values.delete(key);
      this.#execution.record({ kind: "memory_written", step: at.key, meta: { name: key, deleted: true } });
      return;
    }
    const { data, blobs, text } = this.#execution.deps.values.encode(at.key, value);
    this.#values.set(key, decode(text));
    this.#execution.record({ kind: "memory_written", step: at.key, meta: { name: key }, data }, blobs);
  }

  #apply(write: MemoryWrite): void {
    // An edited step may be reached early; the edit still replaces what was recorded before it.
    if (write.seq < (this.#edited.get(write.name) ?? 0)) return;
    if (write.step === "") this.#edited.set(write.name, write.seq);
    if (this.#recorded.has(write.seq)) this.#values.set(write.name, this.#recorded.get(write.seq));
    else if (write.data === undefined) this.#values.delete(write.name);
  }

  /** Called when a step was answered from the journal: its inner writes count too. */
  replayStep(key: string, seq: number): void {
    for (const write of this.#inside.get(key) ?? []) this.#apply(write);
    this.met(seq);
  }

  /** Called when a loop continues after its finished iterations: memory is as it was when the last of them ended. */
  replayUntil(seq: number): void {
    for (const write of this.#writes) if (write.seq <= seq) this.#apply(write);
    this.#edits = this.#edits.filter(({ write }) => write.seq > seq);
    this.met(seq);
  }
}

interface Edit {
  readonly write: MemoryWrite;
  readonly after: number;
}

/** The positions of everything that a body is answered with, in order. */
function recordedPositions(state: RunState): number[] {
  const steps = [...state.steps()].filter(([, record]) => record.status !== "started");
  const loops = [...state.loops()];
  const inside = state.memory.filter((write) => write.step !== "");
  return [
    ...steps.map(([, record]) => decidedAt(record)),
    ...loops.map(([, { seq }]) => seq),
    ...inside.map(({ seq }) => seq),
  ].sort((a, b) => a - b);
}

const lastBefore = (positions: readonly number[], seq: number): number =>
  positions.findLast((one) => one < seq) ?? 0;
