import { HoldfastError } from "../core/errors.ts";
import { digest } from "../core/hash.ts";
import { isMarked } from "../core/journal/head-mark.ts";
import type { Store } from "../core/store/contract.ts";
import { everyRun } from "../core/store/query.ts";
import type { RunRow } from "../core/types.ts";
import type { Keyring } from "./keyring.ts";
import { type KeyAct, writeOutside } from "./outside-write.ts";
import { ROOT_RUN, ROOT_STORE, rootRecords } from "./root.ts";
import { wasSealed } from "./run-keys.ts";
import { keyAddress, unwrapKey, wrapKey } from "./wrapped-key.ts";

/** Options of a rotation. */
export interface RotationOptions {
  /** Recorded with every change. Default `rotation`. */
  readonly actor?: string;
  /** Stops the rotation between two runs. */
  readonly signal?: AbortSignal;
}

/** The result of a rotation. */
export interface RotationReport {
  /** The key that wraps all keys now. */
  readonly kek: string;
  /** Runs whose key was rewrapped, and runs whose key was already wrapped by it. */
  readonly rewrapped: number;
  readonly current: number;
  /** Runs without a key: unencrypted ones and shredded ones. */
  readonly plain: number;
  readonly shredded: number;
  /** Runs that failed, with the reason. */
  readonly failed: readonly { readonly runId: string; readonly why: string }[];
  /**
   * True when no run needs any other key. Runs created in the meantime by a process with an older keyring aren't
   * counted.
   */
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
 * Each run is one conditional write that adds the rewrapped key and removes the old one, so at every moment each run
 * has exactly one key that opens, and an interrupted rotation can simply be restarted. The store's own key comes last.
 */
export async function rotateKeys(
  source: RotationSource,
  { actor = "rotation", signal }: RotationOptions = {},
): Promise<RotationReport> {
  const counts = { rewrapped: 0, current: 0, plain: 0, shredded: 0 };
  const failed: { runId: string; why: string }[] = [];
  const kek = source.keyring.current;
  const [root] = await rootRecords(source.inner, source.keyring);
  // Once every run is known to have a mark, a run without one is a forgery.
  const vouches = root?.format !== 2;
  for await (const row of everyRun(source.inner)) {
    if (signal?.aborted) return { kek, ...counts, failed, complete: false };
    if (row.id === ROOT_RUN) continue;
    try {
      counts[await rotateRun(source, row, actor, vouches)]++;
    } catch (error) {
      if (!HoldfastError.is(error) || !LEFT_OUT.includes(error.code)) throw error;
      failed.push({ runId: row.id, why: error.message });
    }
  }
  await rotateRoot(source, actor, failed.length === 0);
  return { kek, ...counts, failed, complete: failed.length === 0 };
}

/** `isMarked`: every run has marked heads now. The wrapping of the store's own key records that. */
async function rotateRoot(source: RotationSource, actor: string, isMarked: boolean): Promise<void> {
  const { inner, keyring } = source;
  const done = await writeOutside(source, ROOT_RUN, async () => {
    const kek = keyring.current;
    const records = await rootRecords(inner, keyring);
    const [first] = records;
    if (!first) return null;
    const format = isMarked ? 2 : first.format;
    const address = keyAddress(ROOT_RUN, kek, format);
    const old = records.filter((one) => one.address !== address);
    if (old.length === 0) return null;
    const key = await unwrapKey(keyring, ROOT_STORE, ROOT_RUN, first.kek, first.text);
    const isThere = old.length < records.length;
    const keys = isThere ? [] : [await wrapKey(keyring, ROOT_STORE, ROOT_RUN, key, format)];
    const drop = { entries: [], blobs: old.map((one) => one.address) };
    return { events: [{ kind: "key_wrapped", step: "", meta: { kek } }], drop, keys, actor };
  });
  if (!done) throw new HoldfastError("HF-3036", { run: ROOT_RUN });
}

/** Failures of one run; the rotation continues with the others. */
const LEFT_OUT: readonly string[] = ["HF-3031", "HF-3032", "HF-3036"];

async function rotateRun(
  source: RotationSource,
  { id: run }: RunRow,
  actor: string,
  vouches: boolean,
): Promise<Outcome> {
  const { inner, keyring, storeId } = source;
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
    const isMarkedNow = !vouches || (await isVouchedFor(source, row));
    if ((first === undefined || old.length === 0) && isMarkedNow) return null;
    const meta = { kek: first === undefined ? "" : kek };
    const events: KeyAct["events"] = [{ kind: "key_wrapped", step: "", meta }];
    if (first === undefined || old.length === 0) return { events, keys: [], actor };
    outcome = "rewrapped";
    const key = await unwrapKey(keyring, storeId, run, first, records.get(keyAddress(run, first)) as string);
    const keys = holders.includes(kek) ? [] : [await wrapKey(keyring, storeId, run, key)];
    const drop = { entries: [], blobs: old.map((id) => keyAddress(run, id)) };
    return { events, drop, keys, actor };
  });
  if (!done) throw new HoldfastError("HF-3036", { run });
  return outcome;
}

/**
 * True when its last entry is marked. False also when its row doesn't match its journal, so that it can't be vouched
 * for.
 */
async function isVouchedFor({ inner, blinding }: RotationSource, row: RunRow): Promise<boolean> {
  const [last] = await inner.entries(row.id, { from: row.seq, limit: 1 });
  if (!last || digest(last.head) !== row.head) return true;
  return isMarked(blinding, row.id, last.seq, last.head);
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
