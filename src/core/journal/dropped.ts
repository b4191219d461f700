import type { Store } from "../store/contract.ts";
import { ended, type RunRow } from "../types.ts";
import { eventAt } from "./read.ts";

/** Whether a run has lost everything for its age, or is about to. */
export const isLosingAll = async (store: Store, { id, status, prunedAt }: RunRow): Promise<boolean> =>
  prunedAt !== null || (ended(status) && (await isBeingDropped(store, id)));

/** Whether a run is being dropped for its age, and can do nothing more: its input is the first value to go. */
export async function isBeingDropped(store: Store, runId: string): Promise<boolean> {
  const first = await eventAt(store, runId, 1);
  if (typeof first?.data !== "object") return first?.dropped === true;
  return (await store.blobs(runId, [first.data.blob])).size === 0;
}
