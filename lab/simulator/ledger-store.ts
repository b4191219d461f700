import type { Clock } from "../../src/core/clock.ts";
import { digest } from "../../src/core/hash.ts";
import type { AnySqlHandle, SqlHandle, SqlValue, SqlWork } from "../../src/core/sql.ts";
import type { Append, Store } from "../../src/core/store/contract.ts";
import { createMemoryStore } from "../../src/stores/memory.ts";

export interface EffectRow {
  readonly runId: string;
  readonly step: string;
}

/** A memory store with an identity derived from the seed, and transactions over one table of (run, step). */
export interface LedgerStore {
  readonly store: Store;
  readonly rows: readonly EffectRow[];
  /** Every entry in the order of writing. */
  readonly written: readonly { readonly runId: string; readonly seq: number }[];
}

export function createLedgerStore(seed: number, clock: Pick<Clock, "now">): LedgerStore {
  const memory = createMemoryStore({ clock });
  const rows: EffectRow[] = [];
  const written: { runId: string; seq: number }[] = [];
  const append: Store["append"] = async (batch) => {
    const results = await memory.append(batch);
    for (const [index, { run, entries }] of batch.entries())
      if (results[index]?.ok) written.push(...entries.map(({ seq }) => ({ runId: run.id, seq })));
    return results;
  };
  const identity = { incarnation: `simulated-${seed}`, secret: digest(`secret of ${seed}`) };
  const store: Store = {
    ...memory,
    capabilities: { ...memory.capabilities, transactions: "sync" },
    identity: async () => identity,
    append,
    async transaction<T, S extends AnySqlHandle>(work: SqlWork<T, S>, build: (value: T) => Append) {
      const staged: EffectRow[] = [];
      const value = work(handle(staged) as AnySqlHandle as S) as T;
      const [result = { ok: false, reason: "missing", row: null }] = await append([build(value)]);
      if (result.ok) rows.push(...staged);
      return { value, result };
    },
  };
  return { store, rows, written };
}

const handle = (staged: EffectRow[]): SqlHandle => ({
  run: (_sql, ...[runId, step]: readonly SqlValue[]) =>
    void staged.push({ runId: String(runId), step: String(step) }),
  all: () => [],
});
