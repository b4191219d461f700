import { HoldfastError } from "../errors.ts";
import type { StepRecord } from "../journal/records.ts";
import { keyAnswer } from "./key-answer.ts";
import { read, statusOf } from "./retry.ts";

/** True for our own errors that declare the outcome unknown: a timeout, and a lost answer. */
export const leavesOpen = (error: unknown): error is HoldfastError =>
  HoldfastError.is(error, "HF-2102") || HoldfastError.is(error, "HF-2140");

/**
 * True when the error that ended a call proves that nothing was done. A call with an effect that throws may have acted
 * first, so only proof counts: every other error leaves the outcome unknown, whatever it looks like.
 */
export function provesNotDone(
  error: unknown,
  record: Pick<StepRecord, "attempt" | "harmless" | "unproven">,
): boolean {
  // That this attempt did nothing says nothing about an earlier one.
  if (record.unproven) return false;
  if (record.harmless) return true;
  // An answer about the key proves that an earlier attempt reached the receiver.
  if (record.attempt > 1 && keyAnswer(error)) return false;
  return verdictOf(error, 0) === "not done";
}

/** True when the last attempt of this step, or an earlier one, may have acted: the next error can't disprove that. */
export const leavesUnproven = ({ effect, status, harmless, rerun }: StepRecord): boolean => {
  // A `once` call is only repeated after somebody has found out that it wasn't done.
  if (effect === "repeatable" || (rerun && effect === "once")) return false;
  return !(status === "failed" && harmless);
};

type Verdict = "not done" | "open" | "silent";

/** Longer chains prove nothing. */
const MOST_CAUSES = 50;

/** Judges the error itself, its causes and the errors it combines. One of them that leaves it open is enough. */
function verdictOf(error: unknown, depth: number): Verdict {
  if ((typeof error !== "object" && typeof error !== "function") || error === null) return "silent";
  if (depth > MOST_CAUSES) return "open";
  const own = ownVerdict(error);
  if (own === "open" || read(error, "notDone") === true) return own;
  const cause = verdictOf(read(error, "cause"), depth + 1);
  if (cause === "open") return "open";
  const gathered = gatheredVerdict(read(error, "errors"), depth + 1);
  if (gathered === "open") return "open";
  return own === "silent" && cause === "silent" ? gathered : "not done";
}

/** Several attempts behind one error, such as one per address of a host: all of them must have done nothing. */
function gatheredVerdict(errors: unknown, depth: number): Verdict {
  if (!Array.isArray(errors) || errors.length === 0) return "silent";
  const verdicts = errors.map((one) => verdictOf(one, depth));
  return verdicts.every((verdict) => verdict === "not done") ? "not done" : "open";
}

function ownVerdict(error: object): Verdict {
  const marked = read(error, "notDone");
  if (marked === true) return "not done";
  if (marked === false || isLost(error)) return "open";
  if (HoldfastError.is(error, "HF-2116")) return "not done";
  const status = statusOf(error, (one) => one >= 400 && one < 600);
  if (status !== undefined) return status >= 500 || UNSURE_STATUS.has(status) ? "open" : "not done";
  return isUnsent(error) ? "not done" : "silent";
}

/** Refusals that a gateway also gives for a request that it has passed on, or that refer to an earlier one. */
const UNSURE_STATUS: ReadonlySet<number> = new Set([408, 409, 460, 499]);

const LOST_NAMES: ReadonlySet<unknown> = new Set(["AbortError", "TimeoutError"]);
const LOST_CODES: ReadonlySet<unknown> = new Set([
  "ECONNRESET",
  "EPIPE",
  "ECONNABORTED",
  "HF-2102",
  "HF-2140",
]);

const isLost = (error: object): boolean =>
  LOST_NAMES.has(read(error, "name")) || LOST_CODES.has(read(error, "code"));

const UNSENT_CODES: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const UNSENT_CALLS: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo"]);

/** True when there was no connection over which anything could have been sent. */
const isUnsent = (error: object): boolean =>
  UNSENT_CODES.has(read(error, "code")) || UNSENT_CALLS.has(read(error, "syscall"));
