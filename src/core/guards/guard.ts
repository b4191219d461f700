import type { GateAnswer, GateOptions, StepOptions } from "../context.ts";
import type { StepStarted } from "../journal/events.ts";
import type { GuardedPlace, GuardedRun } from "./port.ts";
import type { Grant } from "./rate-gate.ts";

/** A call that is about to be made; nothing about it is written yet. */
export interface Admission {
  readonly execution: GuardedRun;
  readonly place: GuardedPlace;
  /** Includes the `item` or the `branch` in a group. */
  readonly options: Pick<StepOptions, "effect" | "input" | "simulate" | "limit">;
  /** What the call was granted by rate limits: it must begin in time. */
  readonly grants: Grant[];
  /** The intent as it would be written. */
  readonly intent: StepStarted;
  /** Opens a gate whose answer is valid only for what is shown. */
  readonly ask: (place: GuardedPlace, options: GateOptions) => Promise<GateAnswer>;
  /** Calls the step's own `simulate` instead of the step. */
  readonly simulate: () => Promise<unknown>;
}

/** `undefined`: proceed. Otherwise the value that replaces the call, or notes to add to the intent. */
export type Admitted =
  | undefined
  | { readonly value: unknown; readonly instead: "reused" | "simulated" }
  | { readonly note: Partial<StepStarted> };

/**
 * A check between a step and its call. Guards run before every intent, in order, and never answer from history. A guard
 * that refuses waits (`execution.wait`) and checks again when it is woken; it never throws because of a verdict.
 */
export interface Guard {
  admit(admission: Admission): Admitted | Promise<Admitted>;
}

/** Runs all guards; the first stand-in ends the loop, notes add up. A promise only if a guard gives one. */
export function admit(guards: readonly Guard[], admission: Admission): Admitted | Promise<Admitted> {
  for (const [index, guard] of guards.entries()) {
    const answer = guard.admit(admission);
    if (answer !== undefined) return admitFrom(guards.slice(index + 1), admission, answer);
  }
  return undefined;
}

async function admitFrom(
  guards: readonly Guard[],
  admission: Admission,
  first: Admitted | Promise<Admitted>,
): Promise<Admitted> {
  let note: Partial<StepStarted> | undefined;
  for (let answer = await first, next = 0; ; next++) {
    if (answer && "value" in answer) return answer;
    if (answer) note = { ...note, ...answer.note };
    const guard = guards[next];
    if (!guard) return note && { note };
    answer = await guard.admit(admission);
  }
}
