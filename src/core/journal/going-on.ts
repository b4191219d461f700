import type { RunProjection, Waiting, WaitKind } from "../types.ts";
import type { EventKind } from "./events.ts";

/**
 * Where a run may continue from here: what ends each kind of wait, and what a resume does about it. The engine, acts
 * and the CLI use these rules.
 */

/** The acts of a person that end a wait. */
type WaitAct = "answer" | "resolve" | "signal" | "raise budget" | "migrate" | "resume";

interface WaitRule {
  /** A person, a message from anywhere, another run, or time alone. */
  readonly endedBy: "person" | "message" | "run" | "time";
  readonly act?: WaitAct;
  /** The workflow asked for it, and nothing is wrong. */
  readonly isAsked?: true;
  /** A resume ends it: whatever stood in the way is looked at again. */
  readonly isResumable?: true;
  /** Set when it holds one step back, which is checked again after the events in {@link REOPENS}. */
  readonly isGuarded?: true;
}

const RULES: Readonly<Record<WaitKind, WaitRule>> = {
  review: { endedBy: "person", act: "resume", isResumable: true },
  decision: { endedBy: "person", act: "resolve" },
  gate: { endedBy: "person", act: "answer", isAsked: true },
  budget: { endedBy: "person", act: "raise budget", isResumable: true, isGuarded: true },
  content: { endedBy: "person", act: "resume", isResumable: true, isGuarded: true },
  policy: { endedBy: "person", act: "resume", isResumable: true, isGuarded: true },
  migration: { endedBy: "person", act: "migrate", isResumable: true, isGuarded: true },
  key: { endedBy: "person", act: "resume", isResumable: true },
  signal: { endedBy: "message", act: "signal", isAsked: true },
  child: { endedBy: "run", isAsked: true },
  retry: { endedBy: "time", isGuarded: true },
  limit: { endedBy: "time", isGuarded: true },
  timer: { endedBy: "time", isAsked: true },
  start: { endedBy: "time", act: "resume", isAsked: true, isResumable: true },
};

const REOPENS: readonly EventKind[] = ["budget_set", "run_resumed", "run_migrated"];

/** True when nothing happens before a person acts. */
export const needsPerson = (kind: WaitKind): boolean => RULES[kind].endedBy === "person";

/** True when it ends on its own. */
export const isPassing = (kind: WaitKind): boolean =>
  RULES[kind].endedBy === "time" || RULES[kind].endedBy === "run";

/** True when it ends in the normal course: on its own, or by an answer that the workflow asked for. */
export const isExpected = (kind: WaitKind): boolean => isPassing(kind) || RULES[kind].isAsked === true;

export const actOf = (kind: WaitKind): WaitAct | undefined => RULES[kind].act;

/** A guard or a retry has put a step into it. */
export const isGuarded = (kind: WaitKind): boolean => RULES[kind].isGuarded === true;

/** True for events after which guards that hold a step back check again. */
export const isReopening = (kind: EventKind): boolean => REOPENS.includes(kind);

type Standing = Pick<RunProjection, "status" | "control" | "waiting">;

/** True when it was stopped, or is stopping: a resume lets it continue. */
export const isStopped = ({ status, control }: Omit<Standing, "waiting">): boolean =>
  status === "paused" || status === "failed" || control === "pausing";

/** True when it waits for something that a resume ends. */
export const isHeld = ({ status, waiting }: Omit<Standing, "control">): boolean =>
  status === "waiting" && waiting.some(({ kind }) => RULES[kind].isResumable === true);

/** True when it waits for its next attempt, which a resume with `now` makes at once. */
export const isRetrying = ({ waiting }: Pick<Standing, "waiting">): boolean =>
  waiting.some(({ kind }) => kind === "retry");

/** True when it continues on its own, and is only told not to wait for its next attempt. */
export const isHurried = (run: Standing, { now }: { readonly now?: boolean }): boolean =>
  now === true &&
  run.control === "none" &&
  (run.status === "queued" || run.status === "running" || isRetrying(run));

/** When a worker may claim a run with these waits; `null` while only an outside act can move it. */
export function dueAt(waiting: readonly Waiting[]): number | null {
  // From then on a doubtful call may be repeated, but only if a person says so.
  const times = waiting.flatMap(({ kind, until }) =>
    until === undefined || kind === "decision" ? [] : [until],
  );
  return times.length === 0 ? null : Math.min(...times);
}
