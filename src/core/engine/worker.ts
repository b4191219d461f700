import type { ExecutionDeps } from "../run/execution-deps.ts";
import { heapPressure, Pressure } from "../worker/pressure.ts";
import { Worker } from "../worker/worker.ts";
import type { WorkerDeps } from "../worker/worker-deps.ts";
import type { Linked } from "./links.ts";
import type { EngineOptions } from "./options.ts";

type Own = Pick<WorkerDeps, "queues" | "owner" | "tell" | "unrestorable"> & {
  readonly settings: Omit<WorkerDeps["settings"], "concurrency">;
};

/** The worker of an engine. Acts and folds go through the writers of the runs that it has. */
export function engineWorker(
  { parts, family }: Linked,
  { concurrency = 1_000, pressure = heapPressure }: EngineOptions,
  execution: ExecutionDeps,
  own: Own,
): Worker {
  const worker = new Worker({
    ...own,
    execution,
    acts: parts.acts,
    justRead: parts.justRead,
    family,
    workflows: parts.workflows,
    settings: { ...own.settings, concurrency },
    pressure: new Pressure(execution.settings.triggers.memoryPressure, pressure),
  });
  parts.folds.watch((runId) => worker.active(runId)?.writer);
  parts.acts.lend((runId) => worker.active(runId)?.writer);
  return worker;
}
