import { HoldfastError } from "../../core/errors.ts";
import type { Edits } from "../../core/types.ts";
import { decode } from "../../core/values/codec.ts";

/**
 * Edits take what readings give: values that JSON can't express, and values that are taken away, are in the journal's
 * encoding (`{"$":["Date",0]}`, `{"$":["undefined"]}`).
 */
export function restored<Changes extends { readonly set?: Edits }>(changes: Changes): Changes {
  if (changes.set === undefined) return changes;
  try {
    return { ...changes, set: decode(JSON.stringify(changes.set)) as Edits };
  } catch (error) {
    throw new HoldfastError("HF-6080", { why: HoldfastError.is(error) ? error.message : String(error) });
  }
}
