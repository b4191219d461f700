import { HoldfastError } from "../errors.ts";
import type { StepRecord } from "../journal/records.ts";
import { about, forChild } from "../journal/wait-reason.ts";
import { lastSegment } from "../keys.ts";
import { listed } from "../listed.ts";
import type { ActiveRun } from "./active-run.ts";
import { enterDoubt } from "./doubt.ts";

/**
 * Delays the end of a run that has begun something and ends without asking for its outcome. Code that asks takes the
 * run up; in the meantime people can resolve it, and children can report.
 */
export async function untilResolved(execution: ActiveRun): Promise<void> {
  const left = (): readonly string[] => execution.code?.unresolved() ?? [];
  let isHeld = false;
  for (let open = left(); open.length > 0; open = left()) {
    isHeld = true;
    const problem = new HoldfastError("HF-2162", { steps: listed(open) });
    const since = execution.deps.time.now();
    const wait = { kind: "migration", step: "", since, ...about(problem, problem.why) } as const;
    const told = execution.wait("", wait, undefined);
    await Promise.race([told, Promise.all(open.map((key) => untilKnown(execution, key, since)))]);
  }
  if (isHeld) execution.dropWaits();
}

async function untilKnown(execution: ActiveRun, key: string, since: number): Promise<void> {
  const record = execution.state.find(key) as StepRecord;
  if (record.type === "child") {
    return execution.wait(key, { step: key, since, ...forChild(record.child ?? "") }, undefined);
  }
  return enterDoubt(execution, { key, name: lastSegment(key), scope: execution.rootScope }, record);
}
