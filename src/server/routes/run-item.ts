import { HoldfastError } from "../../core/errors.ts";
import { rowProgress } from "../../core/manage/checkpoints/progress.ts";
import { standingOf } from "../../core/manage/status/standing.ts";
import type { RunDetails } from "../../core/manage/status/status.ts";
import type { Run } from "../../core/types.ts";
import { inScope, type ScopedRun } from "../access/permission.ts";
import type { Call } from "../call.ts";
import type { OperationId } from "../contract/paths.ts";
import type { ApiRunItem } from "../contract/shapes.ts";

/** A run as the API shows it, with how it stands. The shape of the answer leaves out what only its worker may know. */
export const itemOf = (run: Run, now: number, details: RunDetails = {}): ApiRunItem => ({
  ...run,
  ...standingOf(run, now, details),
  progress: rowProgress(run),
});

/** The entity tag of a run: its position. */
export const tagOf = ({ seq }: Pick<Run, "seq">): string => `"${seq}"`;

type Caller = Pick<Call<OperationId>, "engine" | "principal">;

/** The run, if the caller may see it; to others it doesn't exist. */
export async function readRun({ engine, principal }: Caller, id: string): Promise<Run> {
  const run = await engine.get(id);
  if (!run || !inScope(principal.scope ?? null, run)) throw new HoldfastError("HF-1001", { run: id });
  return run;
}

/** Refuses a run that the caller wouldn't see. A workflow out of scope is refused like one that nobody knows. */
export function checkStart({ principal: { scope = null } }: Caller, run: ScopedRun, isAlone = false): void {
  const { workflow } = run;
  if (!(scope?.workflows?.includes(workflow) ?? true)) throw new HoldfastError("HF-5001", { workflow });
  // Runs of the same key may be out of scope: they must neither be seen nor changed.
  if (isAlone && (scope?.labels || scope?.queues))
    throw new HoldfastError("HF-6016", { needs: "no singleton and no debounceMs" });
  if (inScope(scope, run)) return;
  const labels = Object.entries(scope?.labels ?? {}).map(([name, value]) => `the label ${name}=${value}`);
  const queues = scope?.queues ? [`a queue of: ${scope.queues.join(", ")}`] : [];
  throw new HoldfastError("HF-6016", { needs: [...labels, ...queues].join("; ") });
}
