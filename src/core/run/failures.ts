import { HoldfastError } from "../errors.ts";
import { keyAnswer } from "./key-answer.ts";
import type { StepRecord } from "./records.ts";

/** What a call's error says about what the call did. */

/** Errors that do not say whether it was done: a time limit, and an answer that the call itself knows to be lost. */
export const leavesOpen = (error: unknown): boolean =>
  HoldfastError.is(error, "HF-2102") || HoldfastError.is(error, "HF-2140");

/** Whether the error itself says that nothing was done. */
export function provesNotDone(error: unknown, { attempt }: Pick<StepRecord, "attempt">): boolean {
  if (typeof error !== "object" || error === null) return false;
  if (HoldfastError.is(error, "HF-2116")) return true;
  const { retryable: marked, status } = error as { retryable?: unknown; status?: unknown };
  if (marked === true) return true;
  // An answer about the key tells of an earlier attempt that reached the receiver.
  if (attempt > 1 && keyAnswer(error)) return false;
  return typeof status === "number" && status >= 400 && status < 500;
}
