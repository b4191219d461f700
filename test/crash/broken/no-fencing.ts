import { runChildFromArgs } from "../../../lab/crash/run-child.ts";
import type { Append, AppendResult, Store } from "../../../src/core/store/contract.ts";
import { withParts } from "../../../src/testing/with-parts.ts";

/** A worker whose store accepts every write regardless of the claim: a refused write is appended at the end. */
async function force(store: Store, append: Append): Promise<AppendResult> {
  const row = await store.read(append.run.id);
  if (!row) return { ok: false, reason: "missing", row };
  const expect = { seq: row.seq, epoch: row.claim.epoch, token: null };
  const entries = append.entries.map((entry) => ({ ...entry, seq: row.seq + 1 }));
  const [result] = await store.append([{ ...append, expect, entries, claim: { kind: "keep" } }]);
  return result as AppendResult;
}

await runChildFromArgs({
  store: (store) =>
    withParts(store, {
      async append(batch) {
        const results = await store.append(batch);
        return Promise.all(
          batch.map(async (append, index) => {
            const result = results[index] as AppendResult;
            return !result.ok && result.reason === "fenced" ? force(store, append) : result;
          }),
        );
      },
    }),
});
