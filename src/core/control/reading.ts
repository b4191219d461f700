import { checkText } from "../check-options.ts";
import { HoldfastError } from "../errors.ts";
import { type Act, checkAct, plan } from "../journal/act.ts";
import { actOn, type EngineParts } from "../journal/parts.ts";
import { checkProse } from "../names.ts";
import type { RunRow } from "../types.ts";

/** Somebody who reads values as they are stored, and why. */
export interface Reading extends Act {
  readonly actor: string;
  readonly reason: string;
  /** A few words for the part that is read: `input`, `state at #12`. */
  readonly what: string;
}

const MOST = 200;

/**
 * Records in the run's journal that somebody reads its values. It comes first: without the record nothing is shown.
 * Nothing else about the run changes.
 */
export async function recordReading(parts: EngineParts, runId: string, reading: Reading): Promise<RunRow> {
  checkAct(reading);
  checkProse("what", checkText("what", reading.what, 1, MOST), MOST);
  const { actor, reason, what } = reading;
  if (!actor || !reason?.trim()) throw new HoldfastError("HF-6064");
  return actOn(parts, runId, () => plan({ kind: "values_read", step: "", meta: { what, reason } }, reading));
}
