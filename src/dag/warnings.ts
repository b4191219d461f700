import type { TaskStatus } from "./plan.ts";
import type { DAGDifference, DAGWarning } from "./types.ts";

/** Says for each difference what it means for the tasks that have ended already. */
export function warningsOf(
  differences: readonly DAGDifference[],
  statusOf: (taskId: string) => TaskStatus,
): DAGWarning[] {
  return differences.map((difference) => ({
    ...difference,
    message: messageOf(difference, statusOf(difference.taskId)),
  }));
}

function messageOf({ taskId, kind, before, after }: DAGDifference, status: TaskStatus): string {
  const isDone = status === "completed";
  const from = `from ${shown(before)} to ${shown(after)}`;
  switch (kind) {
    case "added":
      return `Task ${taskId} is new. It runs when what it depends on has finished.`;
    case "removed":
      return isDone
        ? `Task ${taskId} is gone. It has finished, so its result stays in the state.`
        : `Task ${taskId} is gone. It had not finished, and will not run.`;
    case "changed_dependencies":
      return isDone
        ? `Task ${taskId} has other dependencies (${from}). It has finished, and does not run again.`
        : `Task ${taskId} has other dependencies (${from}).`;
    case "changed_result_type":
      return isDone
        ? `Task ${taskId} has another result type (${from}). Its saved result is of the former type.`
        : `Task ${taskId} has another result type (${from}).`;
    default: {
      const what = kind.replace("changed_", "");
      return isDone
        ? `Task ${taskId} has other ${what}. It has finished, and does not run again.`
        : `Task ${taskId} has other ${what}.`;
    }
  }
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.join(", ").slice(0, 200);
  return typeof value === "string" ? value.slice(0, 100) : "none";
}
