import { HoldfastError } from "../errors.ts";
import type { StepRecord } from "../journal/records.ts";
import { toError } from "../journal/values.ts";
import type { RetryPolicy } from "../options.ts";
import type { ActiveRun } from "./active-run.ts";
import type { Handle } from "./call.ts";
import { leavesOpen } from "./failures.ts";
import { defaultRetry, nextRetry, type RetryDecision, retryPolicy } from "./retry.ts";

/** Decides whether a failed call is tried again, and when. */
export function decideRetry<T>(
  execution: ActiveRun,
  open: Handle<T>,
  thrown: unknown,
  record: StepRecord | undefined,
): ReturnType<typeof nextRetry> {
  const { time, ports } = execution.deps;
  if (open.place.scope.abort.aborted) return { retry: false, why: "The call was told to stop." };
  // Our own errors are final, except for these: the next attempt may be faster, or answered.
  const error = leavesOpen(thrown) ? new Error(thrown.message) : thrown;
  const fallback: RetryPolicy =
    open.frame.effect === "once" ? { ...defaultRetry, attempts: 1 } : defaultRetry;
  return nextRetry(retryPolicy(open.options.retry, fallback), {
    attempt: (record?.failures ?? 0) + 1,
    waitedMs: record?.waitedMs ?? 0,
    error,
    random: () => ports.ids.random(),
    now: time.now(),
  });
}

/**
 * The receiver asks for a longer wait than allowed: the error names both times, and a resume waits as long as asked.
 */
export function tooLong(step: string, thrown: unknown, next: RetryDecision): Error | undefined {
  if (next.retry || !next.isTooLong) return undefined;
  const detail = { step, message: toError(thrown).message, times: next.why };
  return Object.assign(new HoldfastError("HF-2203", detail, { cause: thrown }), {
    retryAfterMs: next.askedMs,
  });
}
