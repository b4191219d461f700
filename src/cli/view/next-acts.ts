import { needsPerson } from "../../core/journal/going-on.ts";
import type { Possible } from "../../core/manage/status/status.ts";
import { isSavedByProgram } from "../../core/outside-workflows.ts";
import type { RunRow } from "../../core/types.ts";
import { waysOut } from "../drive/ending.ts";
import type { Rerun } from "./doubt-ways.ts";

/** What a person can do about a run now, as commands without the leading `holdfast`. */
export function nextActs(
  row: RunRow,
  can: readonly Possible[],
  isStalled: boolean,
  rerunOf: (step: string) => Rerun,
): string[] {
  const { id, seq, workflow } = row;
  // The program that saves such a run continues it.
  const hasCode = !isSavedByProgram(workflow);
  const acts =
    row.status === "waiting" ? row.waiting.flatMap((wait) => waysOf(id, wait, rerunOf(wait.step))) : [];
  if (hasCode && (isStalled || can.includes("resume"))) acts.push(`resume ${id}`);
  if (can.includes("pause") && !isStalled) acts.push(`pause ${id}`);
  if (can.includes("cancel")) acts.push(`cancel ${id}`);
  if (hasCode && can.includes("fork")) acts.push(`fork ${id}@${seq}`);
  return [...new Set(acts)];
}

/** Waits that end on their own need nobody. */
function waysOf(id: string, wait: RunRow["waiting"][number], rerun: Rerun): string[] {
  if (wait.kind === "retry") return [`resume ${id} --now`];
  return needsPerson(wait.kind) ? waysOut(id, wait, rerun) : [];
}
