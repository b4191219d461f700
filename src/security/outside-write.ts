import { HoldfastError } from "../core/errors.ts";
import { type ActPlan, buildAct } from "../core/journal/acts.ts";
import type { Blob, Store } from "../core/store/contract.ts";
import type { RunRow } from "../core/types.ts";

/** A run that changes this often during the write is left for the next time. */
const ATTEMPTS = 100;

/** An act that also adds blobs that no entry names. */
export interface KeyAct extends ActPlan {
  readonly keys: readonly Blob[];
}

/** The store below the encryption, and the key that marks its heads. */
export interface OutsideStore {
  readonly inner: Store;
  readonly blinding: string;
}

/**
 * Writes to a run without owning it, below the encryption. Decides again when the run has moved, and after a failure,
 * so that an earlier write is found. Returns `false` when the run moved every time.
 */
export async function writeOutside(
  { inner, blinding }: OutsideStore,
  runId: string,
  decide: (row: RunRow) => Promise<KeyAct | null>,
): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const row = await inner.read(runId);
    if (!row) throw new HoldfastError("HF-1001", { run: runId });
    const plan = await decide(row);
    if (!plan) return true;
    const expect = { seq: row.seq, epoch: row.claim.epoch, token: null };
    const { append } = buildAct(row, plan, expect, { at: await inner.now(), blinding });
    const [result] = await inner.append([{ ...append, blobs: plan.keys }]);
    if (result?.ok) return true;
  }
  return false;
}
