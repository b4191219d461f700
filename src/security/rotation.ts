import { HoldfastError } from "../core/errors.ts";
import type { Store } from "../core/store/contract.ts";
import { everyRun } from "../core/store/query.ts";
import type { RunRow } from "../core/types.ts";
import type { Keyring } from "./keyring.ts";
import { writeOutside } from "./outside-write.ts";
import { ROOT_RUN, ROOT_STORE } from "./root.ts";
import { wasSealed } from "./run-keys.ts";
import { keyAddress, unwrapKey, wrapKey } from "./wrapped-key.ts";

/** Options of a rotation. */
export interface RotationOptions {
  /** Recorded with every change. Default `rotation`. */
  readonly actor?: string;
  /** Breaks it off between two runs. */
  readonly signal?: AbortSignal;
}

/** What a rotation found and did. */
export interface RotationReport {
  /** The key that wraps all keys now. */
  readonly kek: string;
  /** Runs whose key was wrapped anew, and runs whose key was wrapped by it already. */
  readonly rewrapped: number;
  readonly current: number;
  /** Runs without a key: such as are not encrypted, and such as were shredded. */
  readonly plain: number;
  readonly shredded: number;
  /** Runs that could not be dealt with, and why. */
  readonly failed: readonly { readonly runId: string; readonly why: string }[];
  /** No run needs any other key any more. Those that are made meanwhile by a process with an older keyring are not counted. */
  readonly complete: boolean;
}

export interface RotationSource {
  readonly inner: Store;
  readonly keyring: Keyring;
  readonly storeId: string;
  readonly blinding: string;
}

type Outcome = "rewrapped" | "current" | "plain" | "shredded";

/**
 * Each run is one conditional write that puts the newly wrapped key in and takes the old one out, so at every moment each run has
 * exactly one that opens, and a rotation that was broken off is simply begun again. The store's own key comes last.
 */
export async function rotateKeys(
  source: RotationSource,
  { actor = "rotation", signal }: RotationOptions = {},
): Promise<RotationReport> {
  const counts = { rewrapped: 0, current: 0, plain: 0, shredded: 0 };
  const failed: { runId: string; why: string }[] = [];
  const kek = source.keyring.current;
  for await (const row of everyRun(source.inner)) {
    if (signal?.aborted) return { kek, ...counts, failed, complete: false };
    try {
      const outcome = await rotateRun(source, row, actor);
      if (row.id !== ROOT_RUN) counts[outcome]++;
    } catch (error) {
      if (!HoldfastError.is(error) || !LEFT_OUT.includes(error.code)) throw error;
      failed.push({ runId: row.id, why: error.message });
    }
  }
  return { kek, ...counts, failed, complete: failed.length === 0 };
}

/** What concerns one run only; the others can still be dealt with. */
const LEFT_OUT: readonly string[] = ["HF-3031", "HF-3032", "HF-3036"];

async function rotateRun(source: RotationSource, { id: run }: RunRow, actor: string): Promise<Outcome> {
  const { inner, keyring } = source;
  const store = run === ROOT_RUN ? ROOT_STORE : source.storeId;
  let outcome: Outcome = "current";
  const done = await writeOutside(source, run, async (row) => {
    const [kek, ids] = [keyring.current, keyring.ids()];
    const records = await inner.blobs(
      run,
      ids.map((id) => keyAddress(run, id)),
    );
    const holders = ids.filter((id) => records.has(keyAddress(run, id)));
    const [first] = holders;
    if (first === undefined) outcome = await keyless(inner, row, ids);
    const old = holders.filter((id) => id !== kek);
    if (first === undefined || old.length === 0) return null;
    outcome = "rewrapped";
    const key = await unwrapKey(keyring, store, run, first, records.get(keyAddress(run, first)) as string);
    const keys = holders.includes(kek) ? [] : [await wrapKey(keyring, store, run, key)];
    const drop = { entries: [], blobs: old.map((id) => keyAddress(run, id)) };
    return { events: [{ kind: "key_wrapped", step: "", meta: { kek } }], drop, keys, actor };
  });
  if (!done) throw new HoldfastError("HF-3036", { run });
  return outcome;
}

async function keyless(
  inner: Store,
  { id: run, prunedAt }: RunRow,
  ids: readonly string[],
): Promise<Outcome> {
  if (prunedAt !== null) return "shredded";
  if (await wasSealed(inner, run)) throw new HoldfastError("HF-3031", { run, ids: ids.join(", ") });
  return "plain";
}
