import { isInside, isUndo } from "../keys.ts";
import type { Effect, RunStatus } from "../types.ts";
import type { JournalEvent, Raw, StepStarted, StepType, Voided } from "./events.ts";
import { addSpent, reportOf, type Spent } from "./spent.ts";

/** The journal's record of one step. */
export interface StepRecord {
  status: "started" | "completed" | "failed" | "in_doubt";
  type: StepType;
  effect: Effect;
  attempt: number;
  call: number;
  /** The time of its first intent under this key; waits count from here. */
  since: number;
  /** The position of the event that decided the status; its value is there when `data` isn't held here. */
  seq: number;
  /** The position of the original decision, if the value was edited since. */
  decidedAt?: number | undefined;
  data?: Raw | undefined;
  args?: string | undefined;
  /** The fingerprint of its idempotency key. */
  key?: string | undefined;
  timeoutMs?: number | undefined;
  undo?: true | undefined;
  until?: number | undefined;
  child?: string | undefined;
  names?: readonly string[] | undefined;
  /** Failed attempts in this round, and the total delay between them. */
  failures: number;
  waitedMs: number;
  /** When a failed attempt may be retried. */
  retryAt?: number | undefined;
  /** The run failed on this step and was resumed since: it may be tried afresh. */
  reopened?: boolean | undefined;
  /** The position of the signal that ended a wait. */
  took?: number | undefined;
  /** A schema has accepted the answer or the message, and the value is what it made of it. */
  fitted?: true | undefined;
  rerunAfter?: number | undefined;
  /** Set when it failed with an error that proves that nothing was done outside. */
  harmless?: true | undefined;
  /** The receiver asked for no further call until then. */
  notBefore?: number | undefined;
  /** An earlier attempt may have taken effect. */
  unproven?: true | undefined;
  /** In doubt, and may be called under a new key if a person says so. */
  newKey?: true | undefined;
  /** A person said to call it again, whatever the outcome of the first call. */
  rerun?: boolean | undefined;
  /** The final status of a child, and its reported usage. */
  childStatus?: RunStatus | undefined;
  reported?: Partial<Spent> | undefined;
  /** Its original key, before migrations changed it. */
  first?: string | undefined;
  /** A person said to continue, whether or not the code still asks for it. */
  waived?: true | undefined;
  /** The question that this one replaces. */
  voids?: Voided | undefined;
}

export interface LoopRecord {
  /** The number of finished iterations, which is the index of the next one. */
  iteration: number;
  done: boolean;
  /** The position of the last advance. */
  seq: number;
  /** The newest complete state, and the changes recorded since. */
  state?: { readonly value: unknown } | undefined;
  changes: Raw[];
  /** The loop runs in this process, which updates `state` itself. */
  live: boolean;
  /** True when its finished iterations had effects. */
  acted?: boolean;
}

export interface Signal {
  readonly seq: number;
  readonly id: string;
  readonly name: string;
  readonly at: number;
  /** Held until it was read, or until its reader is done; after that it is read from its position. */
  data: Raw | undefined;
  /** The digest of the released data. */
  was?: string;
  taken: boolean;
}

/** The message at this position. Messages are sorted. */
export function signalAt(signals: readonly Signal[], seq: number): Signal | undefined {
  let [low, high] = [0, signals.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((signals[middle]?.seq ?? seq) < seq) low = middle + 1;
    else high = middle;
  }
  return signals[low]?.seq === seq ? signals[low] : undefined;
}

export interface MemoryWrite {
  readonly seq: number;
  /** The key of the note that wrote it; "" for a write from outside. */
  readonly step: string;
  readonly name: string;
  readonly data: Raw | undefined;
}

/** The position in the order of events, for comparisons. */
export const decidedAt = (record: StepRecord): number => record.decidedAt ?? record.seq;

export interface NoteRecord {
  seq: number;
  data?: Raw | undefined;
  value?: number;
  /** Signals taken out of the mailbox. */
  took?: readonly number[];
}

/** Everything recorded under one prefix. */
export class ScopeNode {
  readonly records = new Map<string, StepRecord>();
  /** Notes (memory, usage, decisions…) already written, with their values, if any. */
  readonly notes = new Map<string, NoteRecord>();
  readonly loops = new Map<string, LoopRecord>();
  readonly scopes = new Map<string, ScopeNode>();
  /** Its original name, before migrations changed it. */
  was?: string;

  child(segment: string): ScopeNode {
    let node = this.scopes.get(segment);
    if (!node) this.scopes.set(segment, (node = new ScopeNode()));
    return node;
  }
}

/** True when it is answered from the journal: nothing inside it is executed again. */
export const isSettled = ({ status, retryAt, reopened }: StepRecord): boolean =>
  status === "completed" || (status === "failed" && retryAt === undefined && !reopened);

export const isUnfinished = ({ status, retryAt, reopened }: StepRecord): boolean =>
  status === "started" || status === "in_doubt" || retryAt !== undefined || reopened === true;

/** How long the attempt after this failure waits. Earlier versions wrote only until when. */
export const retryWait = ({ meta, at }: Extract<JournalEvent, { kind: "step_failed" }>): number =>
  meta.waitMs ?? Math.max(0, (meta.retryAt ?? at) - at);

export const editedRecord = ({ seq, at }: JournalEvent): StepRecord => ({
  status: "completed",
  type: "call",
  effect: "repeatable",
  attempt: 1,
  call: 1,
  since: at,
  seq,
  failures: 0,
  waitedMs: 0,
});

export function startedRecord(
  meta: StepStarted,
  event: JournalEvent,
  before: StepRecord | undefined,
): StepRecord {
  return {
    status: "started",
    type: meta.type,
    effect: meta.effect,
    attempt: meta.attempt,
    call: meta.call,
    since: meta.voids || !before || (before.key ?? meta.key) !== meta.key ? event.at : before.since,
    failures: before?.failures ?? 0,
    waitedMs: before?.waitedMs ?? 0,
    reported: before?.reported,
    first: before?.first,
    seq: event.seq,
    data: event.data,
    args: meta.args,
    key: meta.key,
    timeoutMs: meta.timeoutMs,
    undo: meta.undo,
    until: meta.until,
    child: meta.child,
    names: meta.names,
    unproven: meta.unproven,
    ...(meta.voids ? { voids: meta.voids } : {}),
  };
}

export function applyOutcome(record: StepRecord, event: JournalEvent, signals: readonly Signal[]): void {
  const settle = (status: StepRecord["status"]): void => settled(record, status, event);
  switch (event.kind) {
    case "step_completed": {
      settle("completed");
      const { took, fitted } = event.meta;
      if (record.took !== took) record.took = took;
      if (record.fitted !== fitted) record.fitted = fitted;
      const signal = took === undefined ? undefined : signalAt(signals, took);
      if (signal) signal.taken = true;
      return;
    }
    case "gate_answered":
      return settle("completed");
    case "answer_fitted":
      return applyFitted(record, event);
    case "step_failed":
      settle("failed");
      record.retryAt = event.meta.retryAt;
      record.harmless = event.meta.harmless;
      record.notBefore = event.meta.notBefore;
      record.failures += 1;
      record.waitedMs += retryWait(event);
      return;
    case "child_finished":
      settle(event.meta.status === "completed" ? "completed" : "failed");
      record.childStatus = event.meta.status;
      record.reported = addSpent(record.reported ?? {}, reportOf(event.meta));
      return;
    case "step_in_doubt":
      settle("in_doubt");
      record.rerunAfter = event.meta.rerunAfter;
      record.newKey = event.meta.newKey;
      return;
    case "step_resolved":
      if (event.meta.action === "rerun") {
        const { call = record.call } = event.meta;
        const anew = { status: "started", rerun: true, failures: 0, waitedMs: 0 };
        Object.assign(record, { ...anew, seq: event.seq, call });
      } else settle(event.meta.action === "done" ? "completed" : "failed");
      return;
    case "step_evidence":
      if (record.attempt !== event.meta.attempt) return;
      if (record.status === "in_doubt" || record.status === "started") settle("completed");
      return;
    default:
  }
}

function settled(record: StepRecord, status: StepRecord["status"], { seq, data }: JournalEvent): void {
  record.status = status;
  record.seq = seq;
  record.data = data;
  // Assigned only where it changes something: a replay settles thousands of records that have none of them.
  if (record.reopened !== undefined) record.reopened = undefined;
  if (record.retryAt !== undefined) record.retryAt = undefined;
  if (record.rerun !== undefined) record.rerun = undefined;
}

/** A schema has accepted the answer; `data` is what it made of it, if that is something else. */
function applyFitted(record: StepRecord, { seq, data }: JournalEvent): void {
  record.fitted = true;
  if (data === undefined) return;
  record.decidedAt ??= record.seq;
  Object.assign(record, { seq, data });
}

/** Somebody has put a value in the place of its outcome: it counts as its result, whatever came before. */
export function applyEdit(record: StepRecord, { seq, data }: JournalEvent): void {
  record.decidedAt ??= record.seq;
  Object.assign(record, { status: "completed", seq, data, retryAt: undefined, reopened: undefined });
}

/**
 * Lets failed steps be tried afresh, with what failed inside them: that is why they failed. So are undos given up on. `failed`: the
 * steps that the run failed on. `all`: every step that has failed.
 */
export function reopen(
  steps: Iterable<readonly [string, StepRecord]>,
  failed: readonly string[],
  all: boolean,
): void {
  // Where it is known what failed inside a step, other failures inside were dealt with, and stand.
  const inmost = failed.filter((step) => !failed.some((one) => isInside(one, step)));
  for (const [key, record] of steps) {
    if (record.status !== "failed") continue;
    const isGivenUp = isUndo(key) && record.retryAt === undefined;
    const isWithin = inmost.some((step) => isInside(key, step));
    if (all || isGivenUp || isWithin || failed.includes(key))
      Object.assign(record, { reopened: true, failures: 0, waitedMs: 0 });
  }
}

/** True when it may have had an effect outside. A failed call alone doesn't prove that it did nothing. */
export const mayHaveActed = ({ effect, type, status, harmless }: StepRecord): boolean =>
  type === "child" || (effect !== "repeatable" && !(status === "failed" && harmless));

/** True when anything recorded in a scope may have had an effect. */
export const hasActed = (node: ScopeNode | undefined): boolean =>
  node !== undefined &&
  ([...node.records.values()].some(mayHaveActed) ||
    [...node.loops.values()].some((loop) => loop.acted ?? false) ||
    [...node.scopes.values()].some(hasActed));

/** The positions of messages taken in a scope. */
export function* tookIn(node: ScopeNode): Generator<number> {
  for (const { took } of node.records.values()) if (took !== undefined) yield took;
  for (const { took } of node.notes.values()) if (took) yield* took;
  for (const scope of node.scopes.values()) yield* tookIn(scope);
}
