import { digest } from "../../src/core/hash.ts";
import type { Entry, Store } from "../../src/core/store/contract.ts";
import { DELETED_RUNS } from "../../src/core/store/deleted.ts";

/** The store as somebody leaves it who has changed a run's time and re-hashed its whole journal: it fits together. */
export async function rehash(store: Store, runId: string): Promise<Store> {
  const { entries, head } = forged(await store.entries(runId, { from: 1, limit: 1000 }));
  const row = <T extends { readonly id: string } | null>(found: T): T =>
    found?.id === runId ? { ...found, head } : found;
  return over(store, {
    read: async (id) => row(await store.read(id)),
    async list(query) {
      const page = await store.list(query);
      return { ...page, runs: page.runs.map(row) };
    },
    async entries(id, range) {
      if (id !== runId) return store.entries(id, range);
      return entries.filter(({ seq, count }) => seq + count > range.from).slice(0, range.limit);
    },
  });
}

/** The store without a run, and without a record of its deletion. */
export const without = (store: Store, runId: string): Store =>
  over(store, {
    read: async (id) => (id === runId ? null : store.read(id)),
    async list(query) {
      const page = await store.list(query);
      return { ...page, runs: page.runs.filter(({ id }) => id !== runId || id === DELETED_RUNS) };
    },
  });

/** Entries with another reason for what happened, chained anew. */
export function forged(original: readonly Entry[]): { entries: Entry[]; head: string } {
  let prev = "";
  const entries = original.map((entry) => {
    const head = JSON.stringify({ ...(JSON.parse(entry.head) as object), p: prev, a: "somebody else" });
    prev = digest(head);
    return { ...entry, head };
  });
  return { entries, head: prev };
}

const over = (store: Store, parts: Partial<Store>): Store =>
  new Proxy(store, {
    get(target, key: keyof Store) {
      const member: unknown = parts[key] ?? target[key];
      return typeof member === "function" && !(key in parts) ? member.bind(target) : member;
    },
  });
