import type { Workflow } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { checkName } from "../names.ts";
import type { WorkerRegistry } from "./registry.ts";

/**
 * Finds what a run of a workflow is created with, by the workflow's name: from the code here, or else from what a live worker
 * has registered. A check of the input can't be registered, nor what the input says of the start, so
 * that such workflows are started where their code is.
 */
export async function workflowNamed(
  name: string,
  own: ReadonlyMap<string, Workflow>,
  workers: WorkerRegistry,
): Promise<Workflow> {
  checkName(name);
  const code = own.get(name);
  if (code) return code;
  const served = await workers.serving(name);
  if (!served) throw new HoldfastError("HF-5001", { workflow: name });
  if (served.checksInput) throw new HoldfastError("HF-5002", { workflow: name });
  const { version, schema, budget } = served;
  return {
    name,
    version,
    schema,
    budget: budget ?? undefined,
    migrations: [],
    compensateOnFailure: false,
    body: () => Promise.reject(new HoldfastError("HF-1026", { workflow: name })),
  };
}
