import type { Store } from "../../src/core/store/contract.ts";

/** The store with one character changed in the first value of every run's journal. */
export function damage(store: Store): Store {
  return {
    ...store,
    entries: async (runId, range) => {
      const entries = await store.entries(runId, range);
      return entries.map((entry) =>
        entry.seq === 3 || entry.data === null ? entry : { ...entry, data: `${entry.data.slice(0, -1)}~` },
      );
    },
  };
}
