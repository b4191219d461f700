import type { Workflow } from "../../core/context.ts";
import { HoldfastError } from "../../core/errors.ts";
import { standingOf } from "../../core/manage/status/standing.ts";
import type { RunDetails } from "../../core/manage/status/status.ts";
import type { Run } from "../../core/types.ts";
import { inScope } from "../access/permission.ts";
import type { Call } from "../call.ts";
import type { OperationId } from "../contract/paths.ts";
import type { ApiRunItem } from "../contract/shapes.ts";

/** A run as the API shows it, with how it stands. The shape of the answer leaves out what only its worker may know. */
export const itemOf = (run: Run, now: number, details: RunDetails = {}): ApiRunItem => ({
  ...run,
  ...standingOf(run, now, details),
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

/** The code of a workflow that the caller may start. */
export function codeFor({ engine, principal }: Caller, workflow: string): Workflow {
  const code = engine.workflows.get(workflow);
  if (!code || !inScope(principal.scope ?? null, { workflow }))
    throw new HoldfastError("HF-1026", { workflow });
  return code;
}
