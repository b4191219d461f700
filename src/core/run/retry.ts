import { checkKeys, checkNumber, checkObject, checkWhole } from "../check-options.ts";
import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import type { RetryOption, RetryPolicy } from "../options.ts";

export const defaultRetry: RetryPolicy = {
  attempts: 3,
  baseMs: 500,
  factor: 2,
  maxMs: 30_000,
  maxWaitMs: 120_000,
};

/** The policy for an option, completed from `fallback`. Refuses invalid values (HF-1003). */
export function retryPolicy(options: RetryOption | undefined, fallback: RetryPolicy): RetryPolicy {
  if (options === undefined) return fallback;
  if (options === false) return { ...fallback, attempts: 1 };
  const given = typeof options === "number" ? { attempts: options } : options;
  checkObject("retry", given, "a policy, a number or false");
  checkKeys(given, Object.keys(defaultRetry), "retry");
  const policy: RetryPolicy = {
    attempts: given.attempts ?? fallback.attempts,
    baseMs: given.baseMs ?? fallback.baseMs,
    factor: given.factor ?? fallback.factor,
    maxMs: given.maxMs ?? fallback.maxMs,
    maxWaitMs: given.maxWaitMs ?? fallback.maxWaitMs,
  };
  checkWhole("retry.attempts", policy.attempts);
  checkNumber("retry.factor", policy.factor, { least: 1 });
  for (const key of ["baseMs", "maxMs", "maxWaitMs"] as const)
    checkNumber(`retry.${key}`, policy[key], { least: 0 });
  return policy;
}

/** A failed attempt and what is known about it. */
export interface FailedAttempt {
  /** The number of the failed attempt; the first is 1. */
  readonly attempt: number;
  /** How long the step has waited between attempts so far. */
  readonly waitedMs: number;
  readonly error: unknown;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** Wall time in epoch milliseconds, to interpret a Retry-After date. */
  readonly now: number;
}

export type RetryDecision =
  | { readonly retry: true; readonly delayMs: number }
  | {
      readonly retry: false;
      readonly why: string;
      /** How long the receiver asks to wait. */
      readonly askedMs?: number;
      /** Set when that is longer than the policy allows. */
      readonly isTooLong?: true;
    };

/**
 * Decides whether to retry after a failed attempt, and how long to wait: exponential back-off with full jitter, and
 * never sooner than the receiver asks for.
 */
export function nextRetry(policy: RetryPolicy, failed: FailedAttempt): RetryDecision {
  const { attempt, waitedMs, error, random, now } = failed;
  const asked = retryAfterMs(error, now);
  const askedMs = defined({ askedMs: asked });
  if (!retryable(error))
    return { retry: false, why: "This kind of error doesn't go away on its own.", ...askedMs };
  if (attempt >= policy.attempts) {
    const why =
      policy.attempts === 1
        ? "The retry policy allows one attempt."
        : `All ${policy.attempts} attempts are used up.`;
    return { retry: false, why, ...askedMs };
  }
  // NaN, from 0 times infinity, means no back-off.
  const backOff = random() * Math.min(policy.maxMs, policy.baseMs * policy.factor ** (attempt - 1) || 0);
  const left = policy.maxWaitMs - waitedMs;
  const used = waitedMs > 0 ? `, ${seconds(waitedMs)} of it are used` : "";
  const total = `the retry policy allows ${seconds(policy.maxWaitMs)} in total${used}.`;
  if (asked !== undefined && asked > left) {
    const why = `The receiver asks to wait ${seconds(asked)}; ${total}`;
    return { retry: false, why, askedMs: asked, isTooLong: true };
  }
  if (backOff > left)
    return { retry: false, why: `The next attempt is due in ${seconds(backOff)}; ${total}` };
  const floor = asked === undefined ? 0 : asked + asked * 0.1 * random();
  return { retry: true, delayMs: Math.min(left, Math.ceil(Math.max(backOff, floor))) };
}

const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

const PROGRAMMING = new Set(["SyntaxError", "ReferenceError", "RangeError", "EvalError", "URIError"]);
const PASSING_STATUS = new Set([408, 409, 425, 429]);

/**
 * True when an error may be transient. Decided by name and fields, not by class, so that an error read from the store
 * gets the same answer. The error's own `retryable` counts most.
 */
export function retryable(error: unknown): boolean {
  const name = read(error, "name");
  const own = read(error, "retryable");
  if (name === "HoldfastError" || own === false || isFatal(error)) return false;
  if (own === true) return true;
  if (typeof name === "string" && PROGRAMMING.has(name)) return false;
  if (name === "TypeError" && !isNetworkFailure(error)) return false;
  const status = statusOf(error, (one) => one >= 400 && one < 500);
  return status === undefined || PASSING_STATUS.has(status);
}

/**
 * True for an error that must not be handled, neither by a retry nor by a model: the code is wrong, or says so itself.
 */
export const isFatal = (error: unknown): boolean =>
  read(error, "fatal") === true || (HoldfastError.is(error) && error.code.startsWith("HF-1"));

/** The status of the receiver's answer, if the error carries a matching one. */
export function statusOf(error: unknown, matches: (status: number) => boolean): number | undefined {
  for (const holder of [error, read(error, "response")]) {
    for (const key of ["status", "statusCode"]) {
      const status = read(holder, key);
      if (typeof status === "number" && matches(status)) return status;
    }
  }
  return undefined;
}

/** fetch reports network failures as a TypeError. */
function isNetworkFailure(error: unknown): boolean {
  return read(error, "message") === "fetch failed" || read(read(error, "cause"), "code") !== undefined;
}

/**
 * How long the receiver asks to wait, from the error's fields or its response headers; `undefined` when it doesn't say.
 */
export function retryAfterMs(error: unknown, now: number): number | undefined {
  const own = milliseconds(read(error, "retryAfterMs")) ?? delay(read(error, "retryAfter"), now);
  if (own !== undefined) return own;
  for (const headers of headersOf(error)) {
    const found =
      milliseconds(header(headers, "retry-after-ms")) ?? delay(header(headers, "retry-after"), now);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The places where common clients keep response headers. */
export const headersOf = (error: unknown): readonly unknown[] => [
  read(error, "headers"),
  read(read(error, "response"), "headers"),
  read(error, "responseHeaders"),
];

function milliseconds(value: unknown): number | undefined {
  const amount = typeof value === "string" && NUMBER.test(value.trim()) ? Number(value) : value;
  return typeof amount === "number" && Number.isFinite(amount) && amount >= 0 ? amount : undefined;
}

const NUMBER = /^\d+(\.\d+)?$/;
const WEEKDAY = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

/** Seconds, a Date, or an HTTP date; a date in the past means now. */
function delay(value: unknown, now: number): number | undefined {
  const amount = milliseconds(value);
  if (amount !== undefined) return amount * 1000;
  const at = typeof value === "string" ? httpDate(value.trim()) : dateTime(value);
  return Number.isFinite(at) ? Math.max(0, at - now) : undefined;
}

function httpDate(text: string): number {
  // The oldest of the three HTTP date forms omits its zone, which is always GMT.
  return WEEKDAY.test(text) ? Date.parse(text.endsWith("GMT") ? text : `${text} GMT`) : Number.NaN;
}

function dateTime(value: unknown): number {
  try {
    return Date.prototype.getTime.call(value);
  } catch {
    return Number.NaN;
  }
}

/** A header by its lower-case name, from a Headers object, a Map or a plain object. */
export function header(headers: unknown, name: string): unknown {
  try {
    const get = read(headers, "get");
    const found: unknown = typeof get === "function" ? get.call(headers, name) : undefined;
    if (found !== undefined && found !== null) return found;
    if (typeof headers !== "object" || headers === null) return undefined;
    const key = Object.keys(headers).find((candidate) => candidate.toLowerCase() === name);
    const value = key === undefined ? undefined : read(headers, key);
    return Array.isArray(value) ? value[0] : value;
  } catch {
    return undefined;
  }
}

/** Errors come from anywhere: a field that throws counts as missing. */
export function read(value: unknown, key: string): unknown {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}
