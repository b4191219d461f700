import { HoldfastError } from "../errors.ts";
import { type NamedAct, wrongStatus } from "../journal/act.ts";
import type { EngineParts } from "../journal/parts.ts";
import { readRow } from "../journal/positions.ts";
import type { Run } from "../types.ts";
import type { ResumeOptions } from "./control.ts";
import type { Resolution } from "./decisions.ts";
import { sentBefore } from "./repeats.ts";

export interface RetryOptions extends NamedAct {
  /** Tries at once, even if the receiver asked to wait. */
  readonly now?: boolean;
  /** Uses another idempotency key, if the step allows it and its outcome is unknown. */
  readonly newKey?: boolean;
}

interface Verbs {
  resume(runId: string, options: ResumeOptions): Promise<Run>;
  resolve(runId: string, step: string, resolution: Resolution & NamedAct): Promise<Run>;
}

/** Has a step called again that has failed, or whose outcome is unknown. */
export async function retryStep(
  engine: Verbs,
  { store, values, folds }: Pick<EngineParts, "store" | "values" | "folds">,
  runId: string,
  step: string,
  { now = false, newKey = false, ...act }: RetryOptions,
): Promise<Run> {
  const row = await readRow(store, runId);
  // The first delivery has done it, and its answer was lost.
  for (const verb of ["resolve", "resume"] as const)
    if (await sentBefore({ store, values }, row, verb, act.id)) return row;
  const record = (await folds.at(row)).find(step);
  if (!record) throw new HoldfastError("HF-1010", { run: runId, step });
  if (record.status === "in_doubt")
    return engine.resolve(runId, step, { ...act, action: "rerun", ...(newKey ? { newKey } : {}) });
  if (newKey) throw new HoldfastError("HF-2173", { step });
  if (record.status === "failed") return engine.resume(runId, { ...act, retryFailed: true, now });
  const isDone = record.status === "completed";
  const why = isDone ? "It already has a result." : "It is running now.";
  const fix = isDone ? "Fork the run from a checkpoint before it to run it anew." : "Wait for its outcome.";
  throw wrongStatus(row, `call ${step} again`, why, fix);
}
