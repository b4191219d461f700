import { HoldfastError } from "../errors.ts";
import type { StepRecord } from "../journal/records.ts";
import { listed } from "../listed.ts";
import type { ActiveRun } from "./active-run.ts";
import { enterDoubt } from "./doubt.ts";

/**
 * Holds the end of a run back that has begun something and ends without asking what became of it. Whoever comes with code that asks
 * takes the run up; meanwhile people can say what happened, and children can tell.
 */
export async function untilResolved(execution: ActiveRun): Promise<void> {
  const left = (): readonly string[] => execution.code?.unresolved() ?? [];
  let isHeld = false;
  for (let open = left(); open.length > 0; open = left()) {
    isHeld = true;
    const { code, message, why } = new HoldfastError("HF-2162", { steps: listed(open) });
    const since = execution.deps.time.now();
    const detail = `${code} ${message} ${why}`;
    const told = execution.wait("", { kind: "migration", step: "", since, detail }, undefined);
    await Promise.race([told, Promise.all(open.map((key) => untilKnown(execution, key, since)))]);
  }
  if (isHeld) execution.dropWaits();
}

async function untilKnown(execution: ActiveRun, key: string, since: number): Promise<void> {
  const record = execution.state.find(key) as StepRecord;
  if (record.type === "child") {
    const detail = record.child ?? "";
    return execution.wait(key, { kind: "child", step: key, since, detail }, undefined);
  }
  const name = key.slice(key.lastIndexOf("/") + 1);
  return enterDoubt(execution, { key, name, scope: execution.rootScope }, record);
}
