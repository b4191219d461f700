import { HoldfastError } from "../errors.ts";
import type { StepRecord } from "../journal/records.ts";
import { lastSegment, UNDO } from "../keys.ts";
import type { Waiting } from "../types.ts";
import type { ActiveRun } from "./active-run.ts";
import { awaitDecision, enterDoubt } from "./doubt.ts";
import { innerScope } from "./scope.ts";
import { openSteps, unknownSteps } from "./undo-doubts.ts";

/** True when the replay has gone as far as it can: it has reached every undo, or something that isn't recorded. */
export function knowsUndos({ state, undos, isWaiting, writer, bodyEnded }: ActiveRun): boolean {
  if (isWaiting || writer.holdsBack || bodyEnded) return true;
  return (
    [...state.undoable.keys()].every((step) => undos.has(step)) && unknownSteps(state).next().done === true
  );
}

/** True when no undo has begun: a run that undoes itself because it failed finishes that first. */
export const mayUndo = ({ cancelling, compensating, bodyEnded }: ActiveRun): boolean =>
  !cancelling && (!compensating || bodyEnded);

/** The waits that must be resolved before it is known what to undo. */
export const undoDoubts = ({ state }: ActiveRun, waiting: readonly Waiting[]): readonly Waiting[] =>
  waiting.filter(({ kind, step }) => kind === "decision" && state.find(step)?.undo);

/**
 * Undoes finished steps, the last one first; each undo is its own step. Returns the steps that couldn't be undone: only
 * code knows how, and the code of a finished iteration isn't run again; or it is unknown whether they were done.
 */
export async function compensate(execution: ActiveRun): Promise<readonly string[]> {
  execution.compensating = true;
  execution.dropWaits();
  await execution.writer.whenIdle();
  const scope = innerScope(execution.rootScope, UNDO, { abort: execution.aborts.undo });
  const steps = [...execution.state.undoable].sort(([, a], [, b]) => b - a).map(([step]) => step);
  for (const step of steps) await execution.undos.get(step)?.(scope);
  const unknown = [...unknownSteps(execution.state)].map(([step]) => step);
  return [...steps.filter((step) => !execution.undos.has(step)), ...unknown];
}

export async function undoAndCancel(execution: ActiveRun): Promise<void> {
  execution.cancelling = true;
  try {
    const open = await execution.busy(openSteps(execution));
    if (open.length > 0) {
      execution.cancelling = false;
      return askAbout(execution, open);
    }
    const below = await execution.busy(execution.deps.engine.cancelChildren(execution.runId));
    const left = [...(await compensate(execution)), ...below];
    if (left.length === 0)
      return execution.finish("cancelled", { kind: "run_cancelled", step: "", meta: {} });
    execution.parkForReview(new HoldfastError("HF-2113", { run: execution.runId, steps: left.join(", ") }));
  } catch (error) {
    execution.parkForReview(undoFailed(error));
  }
}

/** The code doesn't reach these steps, so people are asked for their outcome. */
async function askAbout(execution: ActiveRun, open: readonly [string, StepRecord][]): Promise<void> {
  const ask = ([key, record]: [string, StepRecord]): Promise<void> => {
    const place = { key, name: lastSegment(key), scope: execution.rootScope };
    return record.status === "in_doubt"
      ? awaitDecision(execution, place)
      : enterDoubt(execution, place, record);
  };
  await Promise.all(open.map(ask));
  execution.considerEnding();
}

/** An undo has failed for good. The run is left to a person, with what wasn't undone. */
export function undoFailed(error: unknown): HoldfastError {
  const message = error instanceof Error ? error.message : "unknown";
  return new HoldfastError("HF-2111", { verb: "compensate", step: "A step", message }, { cause: error });
}
