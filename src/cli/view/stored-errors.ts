import { causesOf, userStack } from "../../core/values/stack.ts";
import { placeInCode } from "./code-place.ts";
import { type Fetched, isSecretName, MASK, withoutSecrets } from "./stored-values.ts";

export const errorIn = (found: Fetched | undefined): Error | undefined =>
  found && "value" in found && found.value instanceof Error ? found.value : undefined;

/** Where in the user's code a stored error was thrown. */
export const placeOf = (found: Fetched | undefined): string | undefined => placeInCode(errorIn(found));

/** The stack of an error with those of its causes, without the engine's frames. */
export const stackOf = (error: unknown): string[] =>
  causesOf(error).flatMap((one, index) => {
    const lines = withoutSecrets(userStack(one.stack ?? String(one))).split("\n");
    return index === 0 ? lines : [`caused by ${lines[0] ?? ""}`, ...lines.slice(1)];
  });

/** The fields of an error that show its kind, such as a status, a code and a request id, and its causes. */
export function fieldsOf(error: unknown): string {
  const parts = causesOf(error).map((one, index) => {
    const told = facts(one).join(", ");
    if (index === 0) return told;
    return `caused by ${one.name}: ${one.message}${told === "" ? "" : ` (${told})`}`;
  });
  return withoutSecrets(parts.filter((part) => part !== "").join("; "));
}

/** Our own errors carry their texts as fields; the code is enough. */
const TEXTS: readonly string[] = ["why", "safe", "fix", "detail", "retryable"];
const MOST_DEPTH = 3;

const fieldsIn = (error: Error): [string, unknown][] =>
  Object.entries(error).filter(
    ([key]) => key !== "cause" && !(error.name === "HoldfastError" && TEXTS.includes(key)),
  );

/** `status 429`, `retry-after 120`: plain fields, and those of a response and its headers. */
function facts(error: Error): string[] {
  const seen = new Set<string>();
  const walk = (fields: readonly [string, unknown][], depth: number): void => {
    for (const [key, value] of fields) {
      if (isSecretName(key)) continue;
      if (["string", "number", "boolean"].includes(typeof value)) seen.add(`${key} ${String(value)}`);
      else if (depth < MOST_DEPTH && HOLDERS.includes(key) && typeof value === "object" && value !== null)
        walk(Object.entries(value), depth + 1);
    }
  };
  // Only programs need to read how sure a tool is that nothing was done.
  walk(
    fieldsIn(error).filter(([key]) => key !== "notDone"),
    0,
  );
  return [...seen];
}

const HOLDERS: readonly string[] = ["response", "headers", "responseHeaders", "$metadata"];

/** An error for programs: its name, message, place and fields, and the same of its causes. */
export function errorData(error: unknown): Readonly<Record<string, unknown>> | undefined {
  const chain = causesOf(error);
  return chain.toReversed().reduce<Readonly<Record<string, unknown>> | undefined>((cause, one) => {
    const fields = fieldsIn(one).map(([key, value]) => [key, isSecretName(key) ? MASK : plain(value)]);
    return {
      name: one.name,
      message: withoutSecrets(one.message),
      ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)),
      ...(cause ? { cause } : {}),
    };
  }, undefined);
}

/** A field as plain data without secrets, cut where it is long or deep. */
function plain(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return withoutSecrets(value).slice(0, 500);
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Error) return { name: value.name, message: withoutSecrets(value.message) };
  if (depth >= MOST_DEPTH || ArrayBuffer.isView(value)) return undefined;
  if (Array.isArray(value)) return value.slice(0, 20).map((one) => plain(one, depth + 1) ?? null);
  const entries = Object.entries(value).slice(0, 40);
  return Object.fromEntries(
    entries.map(([key, one]) => [key, isSecretName(key) ? MASK : plain(one, depth + 1)]),
  );
}
