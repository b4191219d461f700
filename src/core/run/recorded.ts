import { HoldfastError } from "../errors.ts";
import { inspectOutcome } from "../guards/inspector.ts";
import type { StepRecord } from "../journal/records.ts";
import type { ActiveRun } from "./active-run.ts";
import type { StepPlace } from "./call.ts";

/** The recorded outcome of a step. */
export function recordedValue(execution: ActiveRun, key: string, record: StepRecord): unknown {
  const { data, seq, status } = record;
  // A body asks for each outcome once; keeping it would hold a long run's whole history in memory.
  record.data = undefined;
  const value = execution.read(() => valueOf(execution, { data, seq }));
  return inspectOutcome(execution, key, { data, seq, status }, value);
}

/** Held by the record, left unread when the run was restored, or read from its position. */
function valueOf(
  { state, deps, runId }: ActiveRun,
  { data, seq }: Pick<StepRecord, "data" | "seq">,
): unknown {
  const raw = data ?? state.unread?.get(seq);
  if (raw instanceof Promise) return raw.then((found) => deps.values.of(runId, { data: found, seq }));
  return deps.values.of(runId, { data: raw, seq });
}

/** Only a repeatable call can contain the run's own calls and waits. */
export function refuseInside({ key, scope: { frame } }: StepPlace): void {
  if (!frame || frame.effect === "repeatable") return;
  throw new HoldfastError("HF-1019", { step: key, outer: frame.key, effect: frame.effect });
}
