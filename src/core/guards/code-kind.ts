import { HoldfastError } from "../errors.ts";
import type { StepType } from "../journal/events.ts";
import { about } from "../journal/wait-reason.ts";
import { planNote } from "../keys.ts";
import type { GuardedPlace, GuardedRun } from "./port.ts";

/** The kinds of records that a name can stand for. */
export type Kind = StepType | "group" | "loop";

const WORDS: Readonly<Record<Kind, string>> = {
  call: "a step",
  gate: "a gate",
  timer: "a sleep",
  signal: "a wait for a signal",
  child: "a child",
  transaction: "a transaction",
  group: "a group",
  loop: "a loop",
};

interface Recorded {
  readonly kind: Kind;
  /** True when a person said to continue despite the difference. */
  readonly isWaived: boolean;
  /** Forgets the record: the code starts afresh under this name. */
  readonly forget: () => void;
}

/** The record under this name, if it has another kind: it can neither answer the call nor wait for it. */
function recordedOther(
  { state: { facts } }: GuardedRun,
  { scope: { node }, name }: GuardedPlace,
  kind: Kind,
): Recorded | undefined {
  if (!node) return undefined;
  const record = node.records.get(name);
  if (record) {
    // A value set by a person is valid for any kind.
    if (record.type === kind || record.decidedAt !== undefined) return undefined;
    const isWaived = record.waived ?? false;
    return { kind: record.type, isWaived, forget: () => node.records.delete(name) };
  }
  const loop = kind === "loop" ? undefined : node.loops.get(name);
  if (loop && loop.iteration > 0)
    return { kind: "loop", isWaived: loop.seq < facts.waivedAt, forget: () => node.loops.delete(name) };
  if (kind === "group" || node.notes.size === 0) return undefined;
  const note = planNote(name);
  const group = node.notes.get(note);
  const isWaived = (group?.seq ?? 0) < facts.waivedAt;
  return group && { kind: "group", isWaived, forget: () => node.notes.delete(note) };
}

export const isOtherKind = (execution: GuardedRun, place: GuardedPlace, kind: Kind): boolean =>
  recordedOther(execution, place, kind) !== undefined;

/** Waits until a person has decided what the change means. */
export async function settleKind<P extends GuardedPlace>(
  execution: GuardedRun,
  place: P,
  kind: Kind,
): Promise<P> {
  await execution.enter();
  const { key, scope } = place;
  for (;;) {
    const other = recordedOther(execution, place, kind);
    if (!other) return place;
    if (other.isWaived) {
      other.forget();
      continue;
    }
    const words = { step: key, is: WORDS[kind], was: WORDS[other.kind] };
    const problem = new HoldfastError("HF-2160", words);
    const since = execution.deps.time.now();
    const wait = { kind: "migration", step: key, since, ...about(problem, problem.why) } as const;
    await execution.wait(key, wait, scope.frame);
  }
}
