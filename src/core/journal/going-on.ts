import type { RunProjection, Waiting, WaitKind } from "../types.ts";
import type { EventKind } from "./events.ts";

/** Where a run may go on from here: who ends each kind of wait, and what a resume does about it. The engine, acts and the CLI ask here. */

/** What a person can do about a wait. */
type WaitAct = "answer" | "resolve" | "signal" | "raise budget" | "migrate" | "resume";

interface WaitRule {
  /** A person, a message from anywhere, another run, or time alone. */
  readonly endedBy: "person" | "message" | "run" | "time";
  readonly act?: WaitAct;
  /** The workflow asked for it, and nothing is wrong. */
  readonly isAsked?: true;
  /** A resume ends it: whatever stood in the way is looked at again. */
  readonly isResumable?: true;
  /** It holds one step back, and is looked at again after the events in {@link REOPENS}. */
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
  timer: { endedBy: "time", isAsked: true },
};

const REOPENS: readonly EventKind[] = ["budget_set", "run_resumed", "run_migrated"];

/** Nothing happens before a person does something. */
export const needsPerson = (kind: WaitKind): boolean => RULES[kind].endedBy === "person";

/** It ends by itself. */
export const isPassing = (kind: WaitKind): boolean =>
  RULES[kind].endedBy === "time" || RULES[kind].endedBy === "run";

/** It ends in the course of things: by itself, or by an answer that the workflow asked for. */
export const isExpected = (kind: WaitKind): boolean => isPassing(kind) || RULES[kind].isAsked === true;

export const actOf = (kind: WaitKind): WaitAct | undefined => RULES[kind].act;

/** A guard or a retry has put a step into it. */
export const isGuarded = (kind: WaitKind): boolean => RULES[kind].isGuarded === true;

/** After it, whoever holds a step back looks again. */
export const isReopening = (kind: EventKind): boolean => REOPENS.includes(kind);

type Standing = Pick<RunProjection, "status" | "control" | "waiting">;

/** It was stopped, or stops: a resume lets it go on. */
export const isStopped = ({ status, control }: Omit<Standing, "waiting">): boolean =>
  status === "paused" || status === "failed" || control === "pausing";

/** It waits for something that a resume ends. */
export const isHeld = ({ status, waiting }: Omit<Standing, "control">): boolean =>
  status === "waiting" && waiting.some(({ kind }) => RULES[kind].isResumable === true);

/** It waits for its next try, which a resume with `now` makes at once. */
export const isRetrying = ({ waiting }: Pick<Standing, "waiting">): boolean =>
  waiting.some(({ kind }) => kind === "retry");

/** It goes on by itself, and is told not to wait for its next try. */
export const isHurried = (run: Standing, { now }: { readonly now?: boolean }): boolean =>
  now === true &&
  run.control === "none" &&
  (run.status === "queued" || run.status === "running" || isRetrying(run));

/** When a worker may claim a run that waits so; `null` while only an outside act can move it. */
export function dueAt(waiting: readonly Waiting[]): number | null {
  // From then on a doubtful call may be made again: that is for a person to say.
  const times = waiting.flatMap(({ kind, until }) =>
    until === undefined || kind === "decision" ? [] : [until],
  );
  return times.length === 0 ? null : Math.min(...times);
}
