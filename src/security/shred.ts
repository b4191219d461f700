import { HoldfastError } from "../core/errors.ts";
import { type Act, because, wrongStatus } from "../core/journal/act.ts";
import { ended } from "../core/types.ts";
import { type OutsideStore, writeOutside } from "./outside-write.ts";

/**
 * Deletes a run's key in one recorded write; from then on its values can't be read. A pin doesn't prevent it, because a
 * person has asked for this. Repeating it changes nothing.
 */
export async function shredRun(
  store: OutsideStore,
  runId: string,
  addresses: readonly string[],
  act: Act,
): Promise<void> {
  const { inner } = store;
  const done = await writeOutside(store, runId, async (row) => {
    if (!ended(row.status))
      throw wrongStatus(
        row,
        "be shredded",
        "It has not ended.",
        "Cancel it first, or wait until it has ended.",
      );
    const found = await inner.blobs(runId, addresses);
    if (row.prunedAt !== null && found.size === 0) return null;
    const meta = { entries: 0, blobs: 0, all: true as const, ...because(act) };
    return {
      events: [{ kind: "values_dropped", step: "", meta }],
      drop: { entries: [], blobs: [...found.keys()] },
      keys: [],
      actor: act.actor,
    };
  });
  if (!done) throw new HoldfastError("HF-3036", { run: runId });
}
