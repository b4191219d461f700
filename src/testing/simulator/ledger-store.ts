import type { Clock } from "../../core/clock.ts";
import { digest } from "../../core/hash.ts";
import type { SqlHandle, SqlValue } from "../../core/sql.ts";
import type { Store } from "../../core/store.ts";
import { createMemoryStore } from "../../stores/memory.ts";

export interface EffectRow {
  readonly runId: string;
  readonly step: string;
}

/** A memory store with an identity that follows from the seed, and transactions over one table of (run, step). */
export interface LedgerStore {
  readonly store: Store;
  readonly rows: readonly EffectRow[];
}

export function createLedgerStore(seed: number, clock: Pick<Clock, "now">): LedgerStore {
  const memory = createMemoryStore({ clock });
  const rows: EffectRow[] = [];
  const identity = { incarnation: `simulated-${seed}`, secret: digest(`secret of ${seed}`) };
  const store: Store = {
    ...memory,
    capabilities: { ...memory.capabilities, transactions: true },
    identity: async () => identity,
    async transaction(work, append) {
      const staged: EffectRow[] = [];
      const value = work(handle(staged));
      const [result = { ok: false, reason: "missing", row: null }] = await memory.append([append(value)]);
      if (result.ok) rows.push(...staged);
      return { value, result };
    },
  };
  return { store, rows };
}

const handle = (staged: EffectRow[]): SqlHandle => ({
  run: (_sql, ...[runId, step]: readonly SqlValue[]) =>
    void staged.push({ runId: String(runId), step: String(step) }),
  all: () => [],
});
