import type { RunState } from "../../journal/state.ts";
import { undoKey } from "../../keys.ts";
import { byRecord, isUnknown } from "./plan-doubts.ts";
import type { DoubtfulStep, NextStep } from "./plan-types.ts";

/** The calls that undo these steps, in this order; each is made once. */
export function undoing(
  state: RunState,
  steps: readonly string[],
): { readonly runs: NextStep[]; readonly inDoubt: DoubtfulStep[] } {
  const [runs, inDoubt]: [NextStep[], DoubtfulStep[]] = [[], []];
  for (const done of steps) {
    const step = undoKey(done);
    const { effect } = state.find(done) ?? {};
    const begun = state.find(step);
    if (effect === undefined || begun?.status === "completed") continue;
    if (begun && isUnknown(begun)) inDoubt.push(byRecord(step, begun));
    else runs.push({ step, type: "call", effect, attempt: (begun?.attempt ?? 0) + 1 });
  }
  return { runs, inDoubt };
}
