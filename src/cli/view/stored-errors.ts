import { placeInCode } from "./code-place.ts";
import { type Fetched, withoutSecrets } from "./stored-values.ts";

const errorIn = (found: Fetched | undefined): Error | undefined =>
  found && "value" in found && found.value instanceof Error ? found.value : undefined;

/** Where in the user's code a stored error was thrown: taken from its innermost cause that has a place. */
export function placeOf(found: Fetched | undefined): string | undefined {
  let place: string | undefined;
  for (let error = errorIn(found); error; error = error.cause instanceof Error ? error.cause : undefined)
    place = placeInCode(error) ?? place;
  return place;
}

/** The stack of a stored error, as far as it is kept, with those of its causes. */
export function stackOf(found: Fetched | undefined): string[] {
  const lines: string[] = [];
  for (let error = errorIn(found); error; error = error.cause instanceof Error ? error.cause : undefined)
    lines.push(...withoutSecrets(error.stack ?? String(error)).split("\n"));
  return lines;
}

/** The fields of a stored error that say what kind it is, such as a status and a code, and its causes. */
export function fieldsOf(found: Fetched | undefined): string {
  const parts: string[] = [];
  for (let error = errorIn(found); error; error = error.cause instanceof Error ? error.cause : undefined) {
    const own = Object.entries(error).filter(([key, value]) => key !== "cause" && isPlain(value));
    const told = own.map(([key, value]) => `${key} ${String(value)}`).join(", ");
    if (parts.length > 0)
      parts.push(`caused by ${error.name}: ${error.message}${told === "" ? "" : ` (${told})`}`);
    else parts.push(told);
  }
  return withoutSecrets(parts.filter((part) => part !== "").join("; "));
}

const isPlain = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);
