import { HoldfastError } from "../../errors.ts";
import { isHeld, isStopped } from "../../journal/going-on.ts";
import { ended, type Run, terminal } from "../../types.ts";
import { describeRun } from "./status.ts";

/** What can be done to many runs at once. */
export type BulkAct = "pause" | "resume" | "cancel";

const VERBS: Readonly<Record<BulkAct, string>> = {
  pause: "be paused",
  resume: "be resumed",
  cancel: "be cancelled",
};

/** Why an act would do nothing now, as far as the run's row tells; `null` when it would do something. */
export function refusalOf(run: Run, act: BulkAct): HoldfastError | null {
  const isCancelling = run.control === "compensating";
  const isPossible = {
    pause: !isCancelling && !ended(run.status) && run.status !== "paused",
    resume: (isStopped(run) && !isCancelling && run.prunedAt === null) || isHeld(run),
    cancel: !isCancelling && !terminal(run.status),
  }[act];
  if (isPossible) return null;
  const { id, status } = run;
  const why = `It is ${describeRun(run).headline}.`;
  return new HoldfastError("HF-1007", { run: id, status, verb: VERBS[act], why, fix: "Nothing to do." });
}
