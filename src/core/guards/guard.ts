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

/** Runs all guards; the first stand-in ends the loop, notes add up. */
export async function admit(guards: readonly Guard[], admission: Admission): Promise<Admitted> {
  let note: Partial<StepStarted> | undefined;
  for (const guard of guards) {
    const answer = await guard.admit(admission);
    if (answer && "value" in answer) return answer;
    if (answer) note = { ...note, ...answer.note };
  }
  return note && { note };
}
