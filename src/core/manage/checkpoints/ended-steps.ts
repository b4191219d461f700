import { defined } from "../../defined.ts";
import { HoldfastError } from "../../errors.ts";
import type { StepType } from "../../journal/events.ts";
import { doneIn, type LoggedStep, type StepLog } from "../../journal/step-log.ts";
import type { Values } from "../../journal/values.ts";
import type { Effect } from "../../types.ts";

/** A finished task. Pending, running and doubtful ones aren't included. */
export interface TaskDone {
  /** The key of the step. */
  readonly taskId: string;
  /** `undefined` when `dropped`. */
  readonly result: unknown;
  /** Set when retention has dropped the result of a finished iteration. */
  readonly dropped?: true;
  /** The time of its result. */
  readonly timestamp: number;
  /** Its duration in milliseconds. */
  readonly duration: number;
}

/** A step with an outcome, without its value. */
export interface StepEnded {
  readonly step: string;
  readonly type: StepType;
  readonly effect: Effect;
  readonly status: "completed" | "failed" | "in_doubt";
  readonly at: number;
  readonly ms: number;
  readonly attempts: number;
  /** The fingerprint of its idempotency key, and the digest of its arguments. */
  readonly key?: string;
  readonly args?: string;
}

export function endedSteps(log: StepLog): readonly StepEnded[] {
  return [...log.steps()].flatMap((logged): StepEnded[] => {
    const { step, record, attempts, at, isDropped } = logged;
    const { type, effect, status, key, args } = record;
    if (status === "started" || isDropped) return [];
    const done = doneIn(logged);
    const ms = done?.ms ?? attempts.at(-1)?.ms ?? 0;
    return [
      {
        step,
        type,
        effect,
        status,
        at: done?.at ?? at,
        ms,
        attempts: attempts.length,
        ...defined({ key, args }),
      },
    ];
  });
}

/** A finished task of a finished iteration: the state has let go of its result, the journal may still have it. */
export async function iteratedTask(
  values: Pick<Values, "at">,
  run: string,
  logged: LoggedStep,
): Promise<TaskDone[]> {
  const done = doneIn(logged);
  const last = logged.attempts.at(-1);
  if (!done || logged.isDropped || last?.seq === undefined || last.outcome !== "completed") return [];
  const task = { taskId: logged.step, timestamp: done.at, duration: done.ms };
  try {
    return [{ ...task, result: await values.at(run, last.seq) }];
  } catch (error) {
    if (!HoldfastError.is(error, "HF-1023")) throw error;
    return [{ ...task, result: undefined, dropped: true }];
  }
}
