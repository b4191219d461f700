import { isRecord } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";

const MOST_DEEP = 3;
const PLAIN = ["string", "number", "boolean"];

/**
 * An error as plain data: name, message, code, status and every other plain field, and its causes. Stacks aren't
 * included, because they show paths of the machine.
 */
export function failureDetails(error: unknown, depth = 0): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return isRecord(error) ? plainFields(error) : { message: String(error) };
  const { name, message, cause } = error;
  const inner = cause === undefined || depth >= MOST_DEEP ? {} : { cause: failureDetails(cause, depth + 1) };
  return { name, message, ...plainFields(error), ...inner };
}

function plainFields(error: object): Record<string, unknown> {
  const fields = Object.entries(error).filter(
    ([key, value]) => PLAIN.includes(typeof value) && key !== "stack",
  );
  return Object.fromEntries(fields);
}

export const failureReason = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

/** Why an agent's run failed: its own words, not those of the run above it. */
export function agentReason(error: unknown): string {
  if (!HoldfastError.is(error, "HF-2107")) return failureReason(error);
  return typeof error.why === "string" ? error.why : error.message;
}
