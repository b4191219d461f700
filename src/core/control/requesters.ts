import type { EngineParts } from "../journal/parts.ts";
import { eventAt } from "../journal/read.ts";
import type { RunRow } from "../types.ts";

/** The people who asked for a run: those who started or forked it, or one of the runs above it. */
export async function requestersOf(parts: EngineParts, run: RunRow): Promise<ReadonlySet<string>> {
  const { store, folds } = parts;
  const found = new Set<string>();
  for (let row: RunRow | null = run; row; row = row.parent ? await store.read(row.parent.runId) : null) {
    const { fork } = (await folds.at(row)).facts;
    for (const seq of [1, ...(fork ? [fork.seq] : [])]) {
      const actor = (await eventAt(store, row.id, seq))?.actor;
      if (actor !== undefined) found.add(actor);
    }
  }
  return found;
}
