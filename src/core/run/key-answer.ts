import { checkOneOf } from "../check-options.ts";
import type { StepOptions } from "../context.ts";
import { type ErrorCode, HoldfastError } from "../errors.ts";
import { header, headersOf, read, statusOf } from "./retry.ts";

/**
 * A receiver's statement about the idempotency key itself. `in-flight`: a call under it hasn't ended there yet.
 * `refused`: it doesn't accept the key, or has seen other arguments under it. `replayed`: it failed, and will keep
 * saying so.
 */
export type KeyAnswer = "in-flight" | "refused" | "replayed";

/** Decided by name and fields, not by class. The error's own `keyRejected` counts most. */
export function keyAnswer(error: unknown): KeyAnswer | undefined {
  const own = read(error, "keyRejected");
  if (own === true) return "refused";
  if (own === false) return undefined;
  if (statusOf(error, (status) => status === 409) !== undefined) return "in-flight";
  if (statusOf(error, (status) => status === 422) !== undefined) return "refused";
  if (namesKey(error)) return "refused";
  const isFailure = statusOf(error, (status) => status >= 500) !== undefined;
  return isFailure && headersOf(error).some(isReplayed) ? "replayed" : undefined;
}

/** Such as `StripeIdempotencyError`, `IDEMPOTENCY_KEY_REUSED`, `IdempotentParameterMismatch`. */
const KEY_NAME = /idempoten/i;

const namesKey = (error: unknown): boolean =>
  ["name", "code", "type"].some((field) => {
    const value = read(error, field);
    return typeof value === "string" && KEY_NAME.test(value);
  });

const isReplayed = (headers: unknown): boolean =>
  String(header(headers, "idempotent-replayed")).toLowerCase() === "true";

export function checkKeyOption<T>({ onKeyRejected }: StepOptions<T>): void {
  if (onKeyRejected !== undefined) checkOneOf("onKeyRejected", onKeyRejected, ["ask", "new-key", "fail"]);
}

const CODES: Readonly<Record<KeyAnswer, ErrorCode>> = {
  refused: "HF-2174",
  "in-flight": "HF-2175",
  replayed: "HF-2176",
};

/** Why a person is asked. */
export const keyProblem = (answer: KeyAnswer, step: string, message: string): HoldfastError =>
  new HoldfastError(CODES[answer], { step, message });
