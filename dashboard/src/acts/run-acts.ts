import { client } from "../api/client.ts";
import { type Act, command } from "./act.ts";

/** The part of a run that its acts need. */
export interface ActedRun {
  readonly id: string;
  readonly workflow: string;
  readonly seq: number;
}

const about = ({ id, seq }: ActedRun) => ({ run: id, seq });
const seen = ({ seq }: ActedRun) => ({ seen: seq });

export const pauseAct = (run: ActedRun): Act => ({
  title: `Pause ${run.id}`,
  effect: "The step under way finishes, then the run stops. No new step starts, and nothing is lost.",
  verb: "Pause (finishes the current step)",
  cli: (reason) => command(["pause", run.id], reason),
  permission: "runs:act",
  reasons: ["Deploying a new version", "Looking into wrong results", "Outage of a provider"],
  perform: (reason) => client.pauseRun({ run: run.id, reason }, seen(run)),
  about: about(run),
});

export const cancelAct = (run: ActedRun, compensate = false): Act => ({
  title: `Cancel ${run.id}`,
  effect: compensate
    ? "The run ends for good. Finished steps that can be undone are undone first, the last one first. Checkpoints are kept."
    : "The run ends for good, as it is now. Nothing is undone, and checkpoints are kept.",
  verb: compensate ? "Cancel and undo" : "Cancel (keeps checkpoints)",
  cli: (reason) => command(["cancel", run.id, ...(compensate ? ["--compensate"] : [])], reason),
  permission: "runs:act",
  reasons: ["No longer needed", "Started by mistake", "Input was wrong"],
  isDangerous: true,
  perform: (reason) =>
    client.cancelRun({ run: run.id, reason, ...(compensate ? { compensate } : {}) }, seen(run)),
  about: about(run),
});
