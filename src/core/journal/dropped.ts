import type { Store } from "../store/contract.ts";
import { ended, type RunRow } from "../types.ts";
import { eventAt } from "./read.ts";

/** True when a run has lost all its values because of its age, or is about to. */
export const isLosingAll = async (store: Store, { id, status, prunedAt }: RunRow): Promise<boolean> =>
  prunedAt !== null || (ended(status) && (await isBeingDropped(store, id)));

/**
 * True when a run's values are being dropped because of its age, so that it can't continue: its input is the first to
 * go.
 */
export async function isBeingDropped(store: Store, runId: string): Promise<boolean> {
  const first = await eventAt(store, runId, 1);
  if (typeof first?.data !== "object") return first?.dropped === true;
  return (await store.blobs(runId, [first.data.blob])).size === 0;
}
