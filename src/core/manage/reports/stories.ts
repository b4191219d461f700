import type { JournalEvent, StepType, UsageMeta } from "../../journal/events.ts";
import { headsOf } from "../../journal/read.ts";
import type { StepRecord } from "../../journal/records.ts";
import type { LoggedAttempt, LoggedStep } from "../../journal/step-log.ts";
import type { Store } from "../../store/contract.ts";
import type { Effect, RunRow } from "../../types.ts";

/** One call of a step, or one wait. */
export interface Attempt {
  readonly attempt: number;
  readonly startedAt: number;
  readonly endedAt?: number;
  /** `undefined`: no outcome is recorded. */
  readonly outcome?: Exclude<State, "under way">;
  /** The position of the outcome, where its value is. */
  readonly seq?: number;
  readonly ms?: number;
  readonly usage?: UsageMeta;
  readonly retryAt?: number;
}

type State = "under way" | "done" | "failed" | "in doubt";

/** The history of one step, in the words that are shown. */
export interface Story {
  readonly step: string;
  readonly type: StepType;
  readonly effect: Effect;
  readonly attempts: readonly Attempt[];
  readonly state: State;
  /** The fingerprint of its idempotency key. */
  readonly key?: string | undefined;
  readonly args?: string | undefined;
  readonly child?: string | undefined;
  readonly until?: number | undefined;
  /** In doubt: the time from which it may be called again. */
  readonly rerunAfter?: number | undefined;
  /** A person's choice at a gate, and the person. */
  readonly choice?: string | undefined;
  readonly actor?: string | undefined;
  /** The position of the event that decided its state. */
  readonly seq: number;
}

const WORDS = { started: "under way", completed: "done", failed: "failed", in_doubt: "in doubt" } as const;

/** A failed attempt that is tried again has not ended the step. */
const stateOf = ({ status, retryAt }: StepRecord): State =>
  status === "failed" && retryAt !== undefined ? "under way" : WORDS[status];

export function storyOf({ step, record, attempts, choice, actor }: LoggedStep): Story {
  const { type, effect, key, args, child, until, rerunAfter, seq } = record;
  const told = { key, args, child, until, rerunAfter, choice, actor, seq };
  return { step, type, effect, attempts: attempts.map(attemptOf), state: stateOf(record), ...told };
}

const attemptOf = ({ begun: _, owner: __, outcome, ...attempt }: LoggedAttempt): Attempt =>
  outcome === undefined ? attempt : { ...attempt, outcome: WORDS[outcome] };

/** The heads of a run's journal, page by page. */
export async function* journalOf(store: Store, row: RunRow, from = 1): AsyncGenerator<JournalEvent> {
  for await (const { events } of headsOf(store, row.id, from, row.seq))
    for (const event of events) if (event.seq >= from) yield event;
}

/** The entry that a reader has ended with. */
export interface ReadTo {
  readonly seq: number;
  readonly head: string;
}

/**
 * Takes the events after what was read before, and returns where it has ended. `undefined`: the journal isn't the one that
 * was read, because the run was deleted and began anew under its id, or a copy of the store was restored.
 */
export async function readOn(
  store: Store,
  row: RunRow,
  before: ReadTo | undefined,
  take: (event: JournalEvent) => void,
): Promise<ReadTo | undefined> {
  let last: ReadTo | undefined;
  for await (const { entry, events } of headsOf(store, row.id, before?.seq ?? 1, row.seq)) {
    const { seq, head } = entry;
    if (last || !before) events.forEach(take);
    else if (seq !== before.seq || head !== before.head) return undefined;
    last = { seq, head };
  }
  return last;
}

/** The duration of an attempt; until now if it hasn't ended. */
export const tookMs = ({ startedAt, endedAt, ms }: Attempt, now: number): number =>
  ms ?? Math.max(0, (endedAt ?? now) - startedAt);
