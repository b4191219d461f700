import type { MemoryRuns } from "../../../core/store/in-memory.ts";
import type { CarriedRuns } from "./contract.ts";

/** Runs in memory as one message, and back. */
export function carriedOf({ rows, journals, blobs }: MemoryRuns): CarriedRuns {
  return [...rows.values()].map((row) => ({
    row,
    entries: journals.get(row.id) ?? [],
    blobs: [...(blobs.get(row.id) ?? [])].map(([hash, data]) => ({ hash, data })),
  }));
}

export function restoreRuns({ rows, journals, blobs }: MemoryRuns, carried: CarriedRuns): void {
  for (const { row, entries, blobs: own } of carried) {
    rows.set(row.id, row);
    journals.set(row.id, [...entries]);
    blobs.set(row.id, new Map(own.map(({ hash, data }) => [hash, data])));
  }
}
