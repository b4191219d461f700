import { HoldfastError } from "../../core/errors.ts";
import type { RunState } from "../../core/journal/state.ts";

/** Finished steps that the code of a completed run didn't ask for again when it continued. */
export const unaskedOf = ({ outcome }: Pick<RunState, "outcome">): readonly string[] =>
  outcome?.unasked ?? [];

/** The note about them, if there are any. */
export function unaskedText(steps: readonly string[]): string | undefined {
  if (steps.length === 0) return undefined;
  const { code, message, why } = new HoldfastError("HF-2292", { steps: named(steps) });
  return `${code} ${message} ${why}`;
}

const named = (steps: readonly string[]): string =>
  steps.length > 5 ? `${steps.slice(0, 5).join(", ")} and ${steps.length - 5} more` : steps.join(", ");
