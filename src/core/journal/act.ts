import { HoldfastError } from "../errors.ts";
import type { ClaimChange } from "../store.ts";
import type { RunRow } from "../types.ts";
import type { Encoded } from "../values/values.ts";
import type { ActPlan } from "./acts.ts";
import type { EventDraft } from "./events.ts";

/** Who acts and why. Recorded with the act. */
export interface Act {
  readonly actor?: string;
  readonly reason?: string;
}

export const because = (act: Act): { reason?: string } =>
  act.reason === undefined ? {} : { reason: act.reason };

/** One event, by whom. */
export function plan(
  event: EventDraft,
  act: Act,
  claim?: ClaimChange,
  encoded?: Pick<Encoded, "blobs">,
): ActPlan {
  return {
    events: [event],
    actor: act.actor,
    ...(claim ? { claim } : {}),
    ...(encoded ? { blobs: encoded.blobs } : {}),
  };
}

export const wrongStatus = (row: RunRow, verb: string, why: string, fix: string): HoldfastError =>
  new HoldfastError("HF-1007", { run: row.id, status: row.status, verb, why, fix });
