import { badOption } from "../core/check-options.ts";
import { didYouMean } from "../core/nearest.ts";

/** Refuses unknown options: a misspelled one could silently open a different store. */
export function checkOptions(open: string, given: unknown, known: readonly string[]): void {
  const example = `${open}({ ${known[0]}: … })`;
  if (typeof given !== "object" || given === null)
    throw badOption("options", `they must be an object, as in ${example}`);
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const problem = `${open} has no such option${didYouMean(key, known, "; did you mean ") || "."} It knows ${known.join(", ")}`;
    throw badOption(key.slice(0, 40), problem);
  }
}
