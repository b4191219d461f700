import type { JournalEvent, Raw, StepStarted, StepType } from "./events.ts";
import type { Effect, RunStatus } from "./types.ts";

/** The scope of the steps that undo others. The name is refused to users. */
export const UNDO = "compensate";

/** The key of the step that undoes `step`. */
export const undoKey = (step: string): string => `${UNDO}/${step.replaceAll("/", ">")}`;

/**
 * What the journal says about a run, in the shape the engine asks for it: step records by scope and name, loop
 * positions, the mailbox and memory. Folding is pure; the same fold serves loading and living runs.
 */
export interface StepRecord {
  status: "started" | "completed" | "failed" | "in_doubt";
  type: StepType;
  effect: Effect;
  attempt: number;
  call: number;
  /** When its first intent was written: retries and waits count from here. */
  since: number;
  /** Position of the event that decided the status; its value is there when `data` is not held here. */
  seq: number;
  data?: Raw | undefined;
  args?: string | undefined;
  timeoutMs?: number | undefined;
  undo?: true | undefined;
  until?: number | undefined;
  child?: string | undefined;
  names?: readonly string[] | undefined;
  /** Failed attempts in this round of tries, and how long was waited between them. */
  failures: number;
  waitedMs: number;
  /** A failed attempt that may be tried again, and when. */
  retryAt?: number | undefined;
  /** The run failed on this step and was resumed since: it may be tried afresh. */
  reopened?: boolean | undefined;
  /** Position of the signal that ended a wait. */
  took?: number | undefined;
  rerunAfter?: number | undefined;
  /** A person said: call it again, whatever became of the first call. */
  rerun?: boolean | undefined;
  /** A child ended as this. */
  childStatus?: RunStatus | undefined;
}

export interface LoopRecord {
  /** Finished iterations: the next one to run has this index. */
  iteration: number;
  done: boolean;
  /** Position of the last advance. */
  seq: number;
  /** The newest state known in full, and the changes recorded since. */
  state?: { readonly value: unknown } | undefined;
  changes: Raw[];
  /** The loop runs in this process, which keeps `state` up to date itself. */
  live: boolean;
}

export interface Signal {
  readonly seq: number;
  readonly id: string;
  readonly name: string;
  readonly at: number;
  readonly data: Raw | undefined;
  taken: boolean;
}

export interface MemoryWrite {
  readonly seq: number;
  /** Key of the note that wrote it. */
  readonly step: string;
  readonly name: string;
  readonly data: Raw | undefined;
}

/** Everything recorded under one prefix. */
export class ScopeNode {
  readonly records = new Map<string, StepRecord>();
  /** Notes (memory, usage, decisions…) already written, with the value of those that have one. */
  readonly notes = new Map<string, { seq: number; data?: Raw | undefined; value?: number }>();
  readonly loops = new Map<string, LoopRecord>();
  readonly scopes = new Map<string, ScopeNode>();

  child(segment: string): ScopeNode {
    let node = this.scopes.get(segment);
    if (!node) this.scopes.set(segment, (node = new ScopeNode()));
    return node;
  }
}

export class RunState {
  readonly root = new ScopeNode();
  readonly signals: Signal[] = [];
  readonly memory: MemoryWrite[] = [];
  /** Finished steps that can be undone and have not been, with the position of their outcome. */
  readonly undoable = new Map<string, number>();
  /** The run's input and the position it is stored at. */
  input: Raw | undefined;
  /** How the run ended, when it did. */
  outcome: { readonly seq: number; readonly data: Raw | undefined } | undefined;
  /** Size of the newest snapshot and of the journal since: what decides when the next one is due. */
  snapshotBytes = 0;
  tailBytes = 0;
  /** Only a loop makes a snapshot worth its bytes: it lets go of what its finished iterations recorded. */
  looping = false;
  /** The steps the run failed on. */
  failedSteps: readonly string[] = [];

  apply(event: JournalEvent): void {
    switch (event.kind) {
      case "run_created":
        this.input = event.data;
        return;
      case "run_completed":
        this.outcome = { seq: event.seq, data: event.data };
        return;
      case "run_failed":
        this.outcome = { seq: event.seq, data: event.data };
        this.failedSteps = event.meta.steps;
        return;
      case "run_resumed":
        this.#reopen(event.meta.retryFailed ?? false);
        return;
      case "signal_received":
        this.signals.push({ seq: event.seq, ...event.meta, at: event.at, data: event.data, taken: false });
        return;
      case "memory_written":
        this.memory.push({ seq: event.seq, step: event.step, name: event.meta.name, data: event.data });
        this.#note(event);
        return;
      case "value_recorded":
      case "usage_recorded":
      case "decision_made":
      case "agent_updated":
      case "checkpoint_marked":
        this.#note(event);
        return;
      case "loop_advanced":
        this.#advance(event);
        return;
      default:
        if (event.step !== "") this.#step(event);
    }
  }

  /** The record of a step by its full key. */
  find(key: string): StepRecord | undefined {
    const { node, name } = this.#place(key);
    return node.records.get(name);
  }

  /** The record of a loop by its full key, made on first use. */
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
    for (const [segment, scope] of node.scopes) yield* this.steps(scope, `${prefix}${segment}/`);
  }

  /** Lets failed steps be tried afresh, with what failed inside them: that is why they failed. */
  #reopen(all: boolean): void {
    const steps = new Set(this.failedSteps);
    for (const [key, record] of this.steps()) {
      if (record.status !== "failed") continue;
      const within = all || steps.has(key) || this.failedSteps.some((step) => key.startsWith(`${step}/`));
      if (within) Object.assign(record, { reopened: true, failures: 0, waitedMs: 0 });
    }
    this.outcome = undefined;
    this.failedSteps = [];
  }

  #place(key: string): { node: ScopeNode; name: string } {
    let node = this.root;
    let start = 0;
    for (let slash = key.indexOf("/"); slash >= 0; slash = key.indexOf("/", start)) {
      node = node.child(key.slice(start, slash));
      start = slash + 1;
    }
    return { node, name: start === 0 ? key : key.slice(start) };
  }

  #finished(key: string, record: StepRecord): void {
    if (record.undo) this.undoable.set(key, record.seq);
    if (!key.startsWith(`${UNDO}/`)) return;
    for (const step of this.undoable.keys()) if (undoKey(step) === key) this.undoable.delete(step);
  }

  #note(event: JournalEvent): void {
    const { node, name } = this.#place(event.step);
    const value = event.kind === "value_recorded" ? { value: event.meta.value } : {};
    node.notes.set(name, { seq: event.seq, data: event.data, ...value });
  }

  #advance(event: JournalEvent & { kind: "loop_advanced" }): void {
    const { node, name } = this.#place(event.step);
    const loop = this.loop(event.step);
    // The loop itself may be one iteration ahead of what is durable.
    loop.iteration = Math.max(loop.iteration, event.meta.iteration + 1);
    if (event.meta.done) loop.done = true;
    loop.seq = event.seq;
    if (event.data !== undefined && !loop.live) loop.changes.push(event.data);
    // What ran inside a finished iteration is never asked for again.
    node.scopes.delete(`${name}[${event.meta.iteration}]`);
  }

  #step(event: JournalEvent): void {
    const { node, name } = this.#place(event.step);
    const record = node.records.get(name);
    if (event.kind === "step_started") {
      node.records.set(name, startedRecord(event.meta, event, record));
    } else if (record) {
      applyOutcome(record, event, this.signals);
      if (record.status === "completed") this.#finished(event.step, record);
    }
  }
}

function startedRecord(meta: StepStarted, event: JournalEvent, before: StepRecord | undefined): StepRecord {
  return {
    status: "started",
    type: meta.type,
    effect: meta.effect,
    attempt: meta.attempt,
    call: meta.call,
    since: before?.since ?? event.at,
    failures: before?.failures ?? 0,
    waitedMs: before?.waitedMs ?? 0,
    seq: event.seq,
    data: event.data,
    args: meta.args,
    timeoutMs: meta.timeoutMs,
    undo: meta.undo,
    until: meta.until,
    child: meta.child,
    names: meta.names,
  };
}

function applyOutcome(record: StepRecord, event: JournalEvent, signals: readonly Signal[]): void {
  const settle = (status: StepRecord["status"]) => {
    Object.assign(record, { status, seq: event.seq, data: event.data, retryAt: undefined, rerun: undefined });
  };
  switch (event.kind) {
    case "step_completed": {
      settle("completed");
      record.took = event.meta.took;
      const signal = signals.find((one) => one.seq === event.meta.took);
      if (signal) signal.taken = true;
      return;
    }
    case "gate_answered":
      return settle("completed");
    case "step_failed":
      settle("failed");
      record.retryAt = event.meta.retryAt;
      record.failures += 1;
      record.waitedMs += Math.max(0, (event.meta.retryAt ?? event.at) - event.at);
      return;
    case "child_finished":
      settle(event.meta.status === "completed" ? "completed" : "failed");
      record.childStatus = event.meta.status;
      return;
    case "step_in_doubt":
      settle("in_doubt");
      record.rerunAfter = event.meta.rerunAfter;
      return;
    case "step_resolved":
      if (event.meta.action === "rerun")
        Object.assign(record, { status: "started", rerun: true, seq: event.seq });
      else settle(event.meta.action === "done" ? "completed" : "failed");
      return;
    case "step_evidence":
      if (record.attempt !== event.meta.attempt) return;
      if (record.status === "in_doubt" || record.status === "started") settle("completed");
      return;
    default:
  }
}
