import type { GateAnswer, GateOptions, StepOptions } from "../context.ts";
import type { StepStarted } from "../journal/events.ts";
import type { GuardedPlace, GuardedRun } from "./port.ts";

/** A call that is about to be made: nothing of it is written yet. */
export interface Admission {
  readonly execution: GuardedRun;
  readonly place: GuardedPlace;
  /** In a group also the `item` or the `branch`. */
  readonly options: Pick<StepOptions, "effect" | "input" | "simulate">;
  /** The intent as it would be written. */
  readonly intent: StepStarted;
  /** Opens a gate, whose answer holds only for what is shown. */
  readonly ask: (place: GuardedPlace, options: GateOptions) => Promise<GateAnswer>;
  /** Calls the step's own `simulate`, in the place of the step. */
  readonly simulate: () => Promise<unknown>;
}

/** `undefined`: go on. Else the value that stands in for the call, or what to add to the intent. */
export type Admitted =
  | undefined
  | { readonly value: unknown; readonly instead: "reused" | "simulated" }
  | { readonly note: Partial<StepStarted> };

/**
 * Something that may come between a step and its call. Guards are asked before every intent, in order, and never answer from
 * history. One that says no waits (`execution.wait`) and looks again when it is woken; it never throws because of a verdict.
 */
export interface Guard {
  admit(admission: Admission): Admitted | Promise<Admitted>;
}

/** Asks all guards; the first stand-in ends it, notes add up. */
export async function admit(guards: readonly Guard[], admission: Admission): Promise<Admitted> {
  let note: Partial<StepStarted> | undefined;
  for (const guard of guards) {
    const answer = await guard.admit(admission);
    if (answer && "value" in answer) return answer;
    if (answer) note = { ...note, ...answer.note };
  }
  return note && { note };
}
