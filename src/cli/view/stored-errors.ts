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
