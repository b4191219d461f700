import {
  ActivityFailure,
  continueAsNew,
  scheduleActivity,
  scheduleLocalActivity,
  TimeoutFailure,
  upsertMemo,
  workflowInfo,
} from "@temporalio/workflow";
import { ACTIVITIES, type Burial, lifeOf, MEMO, type WorkerArguments } from "./contract.ts";

/** How long a worker that was declared dead may take to begin another life. */
const ABSENT_MS = 10_000;

/** A year. */
const LONG_MS = 365 * 86_400_000;

/** How long a worker may take to tell the runs of another one. */
const BURY_MS = 30_000;

/**
 * A worker process, as long as it lives: one heartbeat stands for all of its claims and names their runs. When it stops,
 * whichever worker is there tells these runs; and a process that was only out of reach begins another life.
 */
export async function holdfastWorker(args: WorkerArguments): Promise<void> {
  const { workflowId, runId } = workflowInfo();
  for (let number = 1; !workflowInfo().continueAsNewSuggested; number++) {
    const life = lifeOf(workflowId, runId, number);
    upsertMemo({ [MEMO.life]: life });
    const end = await lived(life, args);
    if (end === "left") return;
    // By the worker that has this task at hand: there is no time to look for another.
    await scheduleLocalActivity(ACTIVITIES.bury, [{ life, held: end } satisfies Burial], {
      startToCloseTimeout: BURY_MS,
      retry: { initialInterval: 200, maximumInterval: 5_000 },
    });
  }
  await continueAsNew(args);
}

/** The runs that the worker had when it fell silent; `left` if it has gone. */
async function lived(
  life: string,
  { queue, heartbeatMs }: WorkerArguments,
): Promise<readonly string[] | "left"> {
  try {
    await scheduleActivity(ACTIVITIES.live, [life], {
      taskQueue: queue,
      startToCloseTimeout: LONG_MS,
      scheduleToStartTimeout: ABSENT_MS,
      heartbeatTimeout: heartbeatMs,
      retry: { maximumAttempts: 1 },
    });
    return "left";
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : error;
    if (!(cause instanceof TimeoutFailure)) throw error;
    if (cause.timeoutType === "SCHEDULE_TO_START") return "left";
    return (cause.lastHeartbeatDetails as readonly string[] | undefined) ?? [];
  }
}
