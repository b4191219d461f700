import { isUnreadable } from "../../journal/unreadable.ts";
import type { Store } from "../../store/contract.ts";
import { everyRun } from "../../store/query.ts";
import type { RunRow } from "../../types.ts";
import { type KeptCheckpoints, keptFrom } from "../checkpoints/kept.ts";

/** A run's part of the checkpoints that its workflow may keep. */
export interface Share {
  /** How many it lists now. */
  readonly listed: number;
  /** How many of them it may keep. */
  readonly left: number;
}

/** Distributes `most` checkpoints over the runs of a workflow. The run that was started last gets its part first. */
export async function sharesOf(
  store: Store,
  workflow: string,
  most: number,
): Promise<ReadonlyMap<string, Share>> {
  const shares = new Map<string, Share>();
  let left = most;
  for await (const row of everyRun(store, { workflow, pruned: false })) {
    const kept = await readable(store, row);
    // Nothing is dropped from a run that can't be read.
    if (!kept) continue;
    const pinned = [...kept.tags.values()].filter((tag) => tag.pinned).length;
    const listed = kept.listed.length;
    shares.set(row.id, { listed, left });
    left = Math.max(0, left - Math.max(0, listed - pinned));
  }
  return shares;
}

async function readable(store: Store, row: RunRow): Promise<KeptCheckpoints | undefined> {
  try {
    return (await keptFrom(store, row, 1)).kept;
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}
