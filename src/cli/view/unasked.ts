import { HoldfastError } from "../../core/errors.ts";
import type { RunState } from "../../core/journal/state.ts";
import { about } from "../../core/journal/wait-reason.ts";
import { listed } from "../../core/listed.ts";

/** Finished steps that the code of a completed run didn't ask for again when it continued. */
export const unaskedOf = ({ outcome }: Pick<RunState, "outcome">): readonly string[] =>
  outcome?.unasked ?? [];

/** The note about them, if there are any. */
export function unaskedText(steps: readonly string[]): string | undefined {
  if (steps.length === 0) return undefined;
  const problem = new HoldfastError("HF-2292", { steps: listed(steps, 5) });
  return about(problem, problem.why).detail;
}
