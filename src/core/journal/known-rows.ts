import { keepRecent } from "../recent.ts";
import type { Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";

/** The number of recently checked rows to keep. */
const KEPT = 256;

const known = new WeakMap<Store, Map<string, RunRow>>();

/** The row of a run when it last matched its journal. */
export const knownRow = (store: Store, runId: string): RunRow | undefined => known.get(store)?.get(runId);

export function keepRow(store: Store, row: RunRow): void {
  const rows = known.get(store) ?? new Map<string, RunRow>();
  known.set(store, rows);
  keepRecent(rows, row.id, row, KEPT);
}
