import type { Workflow } from "../context.ts";
import { fingerprint } from "../hash.ts";
import { groupOf, isMember, isWithin, segmentsOf } from "../keys.ts";
import type { Facts } from "./facts.ts";
import { decidedAt, type MemoryWrite, type ScopeNode, type StepRecord } from "./records.ts";

/** The part of a run's state that answers depend on. */
interface Known {
  readonly facts: Facts;
  readonly memory: readonly MemoryWrite[];
  readonly root: ScopeNode;
  steps(): Iterable<readonly [string, StepRecord]>;
}

/** Distinguishes versions of a workflow's function by its text. */
export const codeMark = (workflow: Workflow): string =>
  fingerprint(`${workflow.version} ${workflow.body.toString()}`);

/** The position of the last edit to a value of the run. */
function lastEdit({ facts: { edits }, memory }: Known): number {
  const written = memory.flatMap(({ step, seq }) => (step === "" ? [seq] : []));
  return Math.max(0, ...edits.values(), ...written);
}

/** True when a person has edited the run since. Edits by a migration are part of the new code. */
export const isEditedSince = (state: Known, seq: number): boolean =>
  state.facts.migratedAt <= seq && lastEdit(state) > seq;

/** The position of the last change from outside: an edit, a migration, a fork. */
export function changedAt(state: Known): number {
  const { migratedAt, waivedAt, fork } = state.facts;
  return Math.max(migratedAt, waivedAt, fork?.seq ?? 0, lastEdit(state));
}

/**
 * True when the run has continued since the answer at `seq` to the gate `key`: something was decided after it in the
 * gate's own scope or around it. Other branches don't count.
 */
export function isUsed(state: Known, key: string, seq: number): boolean {
  let node: ScopeNode | undefined = state.root;
  for (const segment of segmentsOf(key)) {
    if (!node) return false;
    if (hasGoneOn(node, segment, seq)) return true;
    node = node.scopes.get(segment);
  }
  return false;
}

/** `segment`: the path to the gate from here. The other branches of its group continue without it. */
function hasGoneOn({ records, loops }: ScopeNode, segment: string, seq: number): boolean {
  const isBeside = (name: string): boolean =>
    isMember(segment) && isWithin(name, groupOf(segment)) && name !== segment;
  const isAfter = (record: StepRecord): boolean => record.type !== "gate" && decidedAt(record) > seq;
  for (const [name, record] of records) if (!isBeside(name) && isAfter(record)) return true;
  return [...loops.values()].some((loop) => loop.seq > seq);
}

/** The gates with answers that haven't been used yet. */
export const unusedAnswers = (state: Known): readonly string[] =>
  [...state.steps()].flatMap(([key, { type, status, seq }]) =>
    type === "gate" && status === "completed" && !isUsed(state, key, seq) ? [key] : [],
  );
