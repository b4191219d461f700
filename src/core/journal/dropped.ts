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
  const { blob } = first.data;
  // The input may be long, and only whether it is there matters.
  if (store.peek) return (await store.peek(runId, blob, 1)) === null;
  return (await store.blobs(runId, [blob])).size === 0;
}
