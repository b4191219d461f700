import { relative } from "node:path";
import { placeOf, placeText } from "../../core/values/stack.ts";

/** Where in the user's code an error was thrown: `flow.ts:12:5`, relative to the current folder. */
export function placeInCode(error: unknown, cwd = process.cwd()): string | undefined {
  const place = placeOf(error);
  if (!place) return undefined;
  const near = relative(cwd, place.file);
  return placeText(near.startsWith("..") || near === "" ? place : { ...place, file: near });
}
