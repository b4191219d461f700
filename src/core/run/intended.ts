import type { StepOptions } from "../context.ts";
import { argsDigest } from "../guards/subject.ts";
import { fingerprint } from "../hash.ts";
import type { StepStarted } from "../journal/events.ts";
import { USUAL_START } from "../journal/journal.ts";
import type { StepRecord } from "../journal/records.ts";
import type { ActiveRun } from "./active-run.ts";
import type { StepPlace } from "./call.ts";
import { leavesUnproven } from "./failures.ts";

/** The intent of a call, as it would be written. */
export function intended<T>(
  execution: ActiveRun,
  { key }: StepPlace,
  options: StepOptions<T>,
  record: StepRecord | undefined,
): StepStarted {
  const effect = options.effect ?? "repeatable";
  const call = record?.call ?? execution.state.freeCall(key);
  const args = argsDigest(execution, options);
  const isUnproven = record !== undefined && leavesUnproven(record);
  const isPlain = effect === "repeatable" && args === undefined && !options.compensate && !isUnproven;
  if (isPlain && !record && call === 1 && options.timeoutMs === undefined) return USUAL_START;
  return {
    type: "call",
    effect,
    attempt: (record?.attempt ?? 0) + 1,
    call,
    ...(effect === "repeatable" ? {} : { key: fingerprint(execution.idempotencyKey(key, call)) }),
    ...(args === undefined ? {} : { args }),
    ...(options.compensate ? { undo: true as const } : {}),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    ...(isUnproven ? { unproven: true as const } : {}),
  };
}
