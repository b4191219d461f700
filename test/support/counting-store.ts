import type { Entry, RunPage, Store } from "../../src/core/store/contract.ts";
import type { RunRow } from "../../src/core/types.ts";

export interface Counts {
  /** How often each method was called. */
  calls: Record<string, number>;
  /** The number of returned journal entries and rows. */
  entries: number;
  rows: number;
}

/** A store that counts its calls. */
export function countingStore(inner: Store): { store: Store; counts: Counts } {
  const counts: Counts = { calls: {}, entries: 0, rows: 0 };
  const answered: Partial<Record<string, (answer: never) => void>> = {
    entries: (found: readonly Entry[]) => void (counts.entries += found.length),
    due: (found: readonly RunRow[]) => void (counts.rows += found.length),
    list: ({ runs }: RunPage) => void (counts.rows += runs.length),
    read: () => void counts.rows++,
  };
  const store = new Proxy(inner, {
    get(target, key: keyof Store) {
      const member: unknown = target[key];
      if (typeof member !== "function") return member;
      return (...args: readonly unknown[]): unknown => {
        counts.calls[key] = (counts.calls[key] ?? 0) + 1;
        const answer: unknown = Reflect.apply(member, target, args);
        const count = answered[key];
        return count && answer instanceof Promise
          ? answer.then((value) => (count(value as never), value as unknown))
          : answer;
      };
    },
  });
  return { store, counts };
}
