import { eventAt } from "../journal/read.ts";
import type { StepRecord } from "../journal/records.ts";
import type { RunState } from "../journal/state.ts";
import { isInside, isUndo } from "../keys.ts";
import type { ActiveRun } from "./active-run.ts";
import { leavesOpen, provesNotDone } from "./failures.ts";

/**
 * A run that is being cancelled must know the following before it undoes anything. The journal says which steps can be undone
 * and may have been done, whatever their effect class, and whether or not the code reaches them again.
 */

/** True when the run is being cancelled with compensation, and its undos haven't begun. */
export const isCancelling = ({ writer, compensating }: ActiveRun): boolean =>
  writer.row.control === "compensating" && !compensating;

/** An undoable step isn't repeated in a run that is being cancelled: its outcome must be found out. */
export const mustSettle = (execution: ActiveRun, { undo }: StepRecord): boolean =>
  undo === true && isCancelling(execution);

const isUnknown = ({ status }: StepRecord): boolean => status === "started" || status === "in_doubt";

/** Undoable steps that were begun and have no outcome. */
export function* unknownSteps(state: RunState): Generator<[string, StepRecord]> {
  for (const [step, record] of state.steps())
    if (record.undo && isUnknown(record) && !isUndo(step)) yield [step, record];
}

/** True when something inside the step was done or may have been, and only the step's function knows how to undo it. */
export function hasUndosInside(state: RunState, outer: string): boolean {
  const steps = [...state.undoable.keys(), ...[...unknownSteps(state)].map(([step]) => step)];
  return steps.some((step) => isInside(step, outer));
}

/** Everything to ask about, including failed calls that may have had an effect. */
export async function openSteps(execution: ActiveRun): Promise<readonly [string, StepRecord][]> {
  const open = [...unknownSteps(execution.state)];
  for (const [step, record] of execution.state.steps())
    if (record.undo && !isUndo(step) && (await isOpenFailure(execution, record))) open.push([step, record]);
  return open;
}

/** True when a call failed without showing what it did. A person's decision about it isn't asked for again. */
export async function isOpenFailure({ deps, runId }: ActiveRun, record: StepRecord): Promise<boolean> {
  if (record.status !== "failed" || record.harmless) return false;
  const event = await eventAt(deps.store, runId, record.seq);
  if (event && event.kind !== "step_failed") return false;
  const error = event && !event.dropped ? await deps.values.of(runId, record) : undefined;
  if (record.effect === "repeatable") return leavesOpen(error);
  return !provesNotDone(error, record);
}
