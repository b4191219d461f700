import { checkFlag, checkKeys } from "../core/check-options.ts";
import type { Act } from "../core/journal/act.ts";
import { checkStore } from "../core/store/check-store.ts";
import type {
  Append,
  AppendResult,
  Entry,
  RunPage,
  RunQuery,
  Store,
  StoreIdentity,
} from "../core/store/contract.ts";
import { type CompressionOptions, packer } from "./compression.ts";
import { HeadCheck } from "./head-check.ts";
import type { Keyring } from "./keyring.ts";
import { checkKeyring } from "./keyring.ts";
import type { DataKey } from "./record.ts";
import { openRoot, ROOT_RUN, ROOT_WORKFLOW, type Root } from "./root.ts";
import { type RotationOptions, type RotationReport, rotateKeys } from "./rotation.ts";
import { RunKeys } from "./run-keys.ts";
import { type Prepared, type Refused, Sealer } from "./sealed-append.ts";
import { sealedDocuments } from "./sealed-documents.ts";
import { shredRun } from "./shred.ts";
import { withValues } from "./store-parts.ts";

/** Options of a sealed store. */
export interface SealOptions {
  /** Wraps the keys of runs. */
  readonly keyring: Keyring;
  /**
   * Values are compressed before they are encrypted. With `false` they aren't, so that their size reveals nothing about
   * their content.
   */
  readonly compression?: CompressionOptions | false;
  /**
   * With `true`, existing unencrypted runs can be read and continue unencrypted, while new ones are encrypted. Use it
   * to migrate a store. Default `false`: unencrypted values are refused.
   */
  readonly acceptPlain?: boolean;
  /** The number of run keys kept in memory. Default 10,000. */
  readonly keysInMemory?: number;
}

/** A store whose values are encrypted. */
export interface SealedStore extends Store {
  readonly blinding: string;
  /**
   * Rewraps the keys of all runs with the keyring's current key, and vouches for runs of older versions as they are
   * now: from then on a run without marked heads counts as damaged. It may be interrupted and called again at any time.
   */
  rotate(options?: RotationOptions): Promise<RotationReport>;
  /** Deletes the key of an ended run, so that its values can never be read again. The record of what happened stays. */
  shred(runId: string, act?: Act): Promise<void>;
}

/**
 * Wraps a store so that every value is encrypted. Each run has its own key, wrapped by the keyring. The record of what
 * happened stays readable: names, times, statuses, and the reasons that people give.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { envKeyring, sealStore } from "holdfast/security";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const store = await sealStore(await openSqliteStore({ file: "runs.db" }), { keyring: envKeyring() });
 * export const engine = createEngine({ store });
 * ```
 */
export async function sealStore(inner: Store, options: SealOptions): Promise<SealedStore> {
  checkStore("inner", inner);
  checkKeys(options, ["keyring", "compression", "acceptPlain", "keysInMemory"]);
  checkKeyring(options.keyring);
  checkFlag("acceptPlain", options.acceptPlain);
  const { keyring, compression, acceptPlain = false, keysInMemory: most = 10_000 } = options;
  const pack = packer(compression);
  await inner.identity();
  const root = await openRoot(inner, keyring, acceptPlain);
  const { id: storeId, blinding } = root;
  const keys = new RunKeys({ inner, keyring, storeId, acceptPlain, most });
  const sealer = new Sealer(keys, storeId, pack);
  // Runs from before the store was encrypted have no marks.
  const heads = new HeadCheck(inner, blinding, root.isMarked && !acceptPlain);
  const store = withValues(inner, `${inner.name} (sealed)`, {
    blinding,
    ...identities(inner, root),
    async prepare(runId, isNew) {
      await (isNew ? keys.mint(runId) : keys.find(runId));
    },
    ...writes(inner, keys, sealer, heads),
    ...reads(inner, keys, sealer, heads),
    ...(inner.documents
      ? { documents: sealedDocuments(inner.documents, { storeId, key: root.documentKey, pack, acceptPlain }) }
      : {}),
  });
  return Object.assign(store, {
    blinding,
    async rotate(rotation?: RotationOptions) {
      const report = await rotateKeys({ inner, keyring, storeId, blinding }, rotation);
      heads.isStrict ||= report.complete && !acceptPlain;
      return report;
    },
    async shred(runId: string, act: Act = {}) {
      await shredRun({ inner, blinding }, runId, keys.addresses(runId), act);
      keys.forget(runId);
    },
  });
}

function identities(inner: Store, root: Root): Pick<Store, "identity" | "markRestored"> {
  const sealed = (identity: StoreIdentity): StoreIdentity => ({
    ...identity,
    secret: root.identitySecret(identity.secret),
  });
  const restored = inner.markRestored?.bind(inner);
  return {
    identity: async () => sealed(await inner.identity()),
    ...(restored ? { markRestored: async () => sealed(await restored()) } : {}),
  };
}

function writes(
  inner: Store,
  keys: RunKeys,
  sealer: Sealer,
  heads: HeadCheck,
): Pick<Store, "append" | "transaction"> {
  const settle = ({ append, minted, shreds }: Prepared, { ok }: AppendResult): void => {
    if (minted) keys.settle(append.run.id, minted, ok);
    if (shreds && ok) keys.forget(append.run.id);
    if (append.claim.kind === "erase" && ok) heads.forget(append.run.id);
  };
  const append: Store["append"] = async (batch) => {
    const cut = afterCreation(batch);
    if (cut > 0) return [...(await append(batch.slice(0, cut))), ...(await append(batch.slice(cut)))];
    const ready = batch.map((one) => (isHidden(one) ? HIDDEN : (sealer.now(one) ?? sealer.later(one))));
    // Stays synchronous when every key is cached, as is nearly always the case.
    const sealed = ready.some((one) => one instanceof Promise)
      ? await Promise.all(ready.map(async (one) => one))
      : (ready as (Prepared | Refused)[]);
    const sent = sealed.filter((one) => "append" in one);
    // Calls the store even with nothing to write, so that a closed store says so.
    const results =
      sent.length < sealed.length && sent.length === 0
        ? []
        : await inner.append(sent.map((one) => one.append));
    sent.forEach((one, index) => settle(one, results[index] as AppendResult));
    const left = results.values();
    return sealed.map((one) => ("refused" in one ? one.refused : (left.next().value as AppendResult)));
  };
  const transact = inner.transaction?.bind(inner);
  if (!transact) return { append };
  const transaction: Store["transaction"] = async (work, build) => {
    let keyless: string | undefined;
    const attempt = () =>
      transact(work, (value) => {
        const built = build(value);
        keyless = undefined;
        const sealed = sealer.now(built);
        if (sealed) return sealed.append;
        keyless = built.run.id;
        throw new Error("its key isn't available");
      });
    try {
      return await attempt();
    } catch (error) {
      if (keyless === undefined) throw error;
    }
    // Everything was rolled back, so it is repeated with the key.
    await keys.find(keyless);
    return attempt();
  };
  return { append, transaction };
}

/**
 * The index at which a batch continues a run that it has created: only then is it known whether the new key is the
 * run's. 0 when there is none.
 */
function afterCreation(batch: readonly Append[]): number {
  const created = new Set<string>();
  for (const [index, { run, expect }] of batch.entries()) {
    if (created.has(run.id)) return index;
    if (expect === null) created.add(run.id);
  }
  return 0;
}

const isHidden = ({ run }: Append): boolean => run.id === ROOT_RUN;
const HIDDEN: Refused = { refused: { ok: false, reason: "exists", row: null } };

function reads(
  inner: Store,
  keys: RunKeys,
  sealer: Sealer,
  heads: HeadCheck,
): Pick<Store, "read" | "entries" | "outlines" | "blobs" | "blobNames" | "records" | "list" | "count"> {
  const records = inner.records?.bind(inner);
  const count = inner.count?.bind(inner);
  return {
    ...(records
      ? {
          async records(runId) {
            const found = await records(runId);
            const key = found.length === 0 ? "missing" : await keys.find(runId);
            return key === "missing" ? [] : found.map((one) => sealer.openRecord(runId, key, one));
          },
        }
      : {}),
    async read(runId) {
      const row = await inner.read(runId);
      return runId === ROOT_RUN ? null : row;
    },
    ...entriesOf(inner, keys, sealer, heads),
    async blobs(runId, hashes) {
      const found = await inner.blobs(runId, hashes);
      if (found.size === 0 || runId === ROOT_RUN) return new Map();
      const key = await keys.find(runId);
      if (key === "missing" || key === "gone") return new Map();
      return new Map(Array.from(found, ([hash, data]) => [hash, sealer.openBlob(runId, key, hash, data)]));
    },
    ...namesOfBlobs(inner, keys),
    list: (query) => listRuns(inner, query),
    ...(count
      ? { count: async (query) => (await count(query)).filter(({ workflow }) => workflow !== ROOT_WORKFLOW) }
      : {}),
  };
}

function entriesOf(
  inner: Store,
  keys: RunKeys,
  sealer: Sealer,
  heads: HeadCheck,
): Pick<Store, "entries" | "outlines"> {
  type Range = Parameters<Store["entries"]>[1];
  type Open = (runId: string, key: DataKey | "plain" | "gone", entry: Entry) => Entry;
  const opening = (read: Store["entries"], open: Open) => async (runId: string, range: Range) => {
    const entries = await read(runId, range);
    if (runId === ROOT_RUN) return [];
    if (entries.every(({ data }) => data === null)) return heads.check(runId, entries);
    const key = await keys.find(runId);
    if (key === "missing") return [];
    const opened = entries.map((entry) => open(runId, key, entry));
    return heads.check(runId, opened);
  };
  const outlines = inner.outlines?.bind(inner);
  return {
    entries: opening(inner.entries.bind(inner), (...one) => sealer.openEntry(...one)),
    // Nothing is opened for a reader of heads. A run without its key has no values all the same.
    ...(outlines
      ? { outlines: opening(outlines, (_, key, one) => (key === "gone" ? { ...one, data: null } : one)) }
      : {}),
  };
}

/** The run's key is stored beside its values, and nothing in its journal names it. */
function namesOfBlobs(inner: Store, keys: RunKeys): Pick<Store, "blobNames"> {
  const names = inner.blobNames?.bind(inner);
  if (!names) return {};
  return {
    async blobNames(runId) {
      const own = new Set(keys.addresses(runId));
      return (await names(runId)).filter((hash) => !own.has(hash));
    },
  };
}

/** Leaves out the store's own run, which is the oldest and so the last of the last page. */
async function listRuns(inner: Store, query: RunQuery): Promise<RunPage> {
  const { runs, cursor } = await inner.list(query);
  const seen = runs.filter(({ id }) => id !== ROOT_RUN);
  if (cursor === null || !mayListRoot(query)) return { runs: seen, cursor };
  const next = await inner.list({ ...query, limit: 1, cursor });
  const isOver = next.cursor === null && next.runs.every(({ id }) => id === ROOT_RUN);
  return { runs: seen, cursor: isOver ? null : cursor };
}

const mayListRoot = ({ status, pruned, createdAfter = 0, labels = {}, ...named }: RunQuery): boolean =>
  (status?.includes("completed") ?? true) &&
  pruned !== true &&
  createdAfter <= 0 &&
  Object.keys(labels).length === 0 &&
  (["workflow", "parent", "name", "queue", "key"] as const).every((filter) => named[filter] === undefined);
