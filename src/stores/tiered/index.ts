import { badOption, checkNumber, checkObject } from "../../core/check-options.ts";
import { defined } from "../../core/defined.ts";
import { type Logger, silentLogger } from "../../core/logger.ts";
import { checkStore } from "../../core/store/check-store.ts";
import type { Append, Store, StoreIdentity } from "../../core/store/contract.ts";
import { FastRecords } from "../fast-records.ts";
import { checkOptions } from "../options.ts";
import { type Cache, PatientCache } from "./cache.ts";
import { Copies } from "./store.ts";

export type { Cache } from "./cache.ts";

/** Options of the tiered store. */
export interface TieredOptions {
  /** Holds the runs. Every write goes here first, and each run's position is read only from here. */
  readonly primary: Store;
  /** Holds the copies, for example `openRedisCache`. Closed with the store. */
  readonly cache: Cache;
  /** How long a copy is kept, unless the retention policy says otherwise with `cacheTtl`. Default 7 days. */
  readonly ttlMs?: number;
  /** How long the cache may take to answer before the primary is asked instead. Default 250. */
  readonly patienceMs?: number;
  /** The approximate number of characters of copies that this process keeps in memory to extend them. Default 64 Mi. */
  readonly memory?: number;
  /** Receives a warning when the cache fails; the store continues without it. */
  readonly logger?: Pick<Logger, "warn">;
}

const OPTIONS = ["primary", "cache", "ttlMs", "patienceMs", "memory", "logger"];
const WEEK_MS = 7 * 24 * 3_600_000;
const MEMORY = 64 * 1024 * 1024;

/**
 * A store with a cache of runs beside it: a process that takes over a run loads the copy instead of reading the whole
 * journal from the primary. A copy is used only when its epoch, position and head hash match the run's row in the
 * primary, so a stale, wiped, damaged, slow or unreachable cache changes no result and fails no call.
 *
 * @example
 * ```ts
 * import { openPostgresStore } from "holdfast/stores/postgres";
 * import { openRedisCache } from "holdfast/stores/redis";
 * import { createTieredStore } from "holdfast/stores/tiered";
 *
 * const primary = await openPostgresStore({ connectionString: "postgresql://app@localhost/app" });
 * export const store = createTieredStore({ primary, cache: openRedisCache({ url: "redis://localhost:6379" }) });
 * ```
 */
export function createTieredStore(options: TieredOptions): Store {
  checkOptions("createTieredStore", options, OPTIONS);
  const { primary, ttlMs = WEEK_MS, patienceMs = 250, memory = MEMORY, logger = silentLogger } = options;
  for (const [option, value] of Object.entries({ ttlMs, patienceMs, memory }))
    checkNumber(option, value, { above: 0, most: Infinity });
  checkStore("primary", primary);
  checkObject("cache", options.cache, "a cache, such as openRedisCache gives");
  // A cache above the encryption would hold unencrypted values.
  if (primary.blinding !== undefined)
    throw badOption("primary", "it is sealed: seal the tiered store instead");
  const cache = new PatientCache(options.cache, { patienceMs, logger });
  const copies = new Copies({ primary, cache, ttlMs, mostSize: memory });
  const known = (identity: StoreIdentity): StoreIdentity => {
    copies.knows(identity);
    return identity;
  };
  const fast = new FastRecords({ primary, cache, ttlOf: (workflow) => copies.ttlOf(workflow) });
  const mark = primary.markRestored?.bind(primary);
  let closing: Promise<void> | undefined;
  return {
    name: `${primary.name} with a cache`,
    get capabilities() {
      return primary.capabilities;
    },
    identity: async () => known(await primary.identity()),
    ...(mark ? { markRestored: async () => known(await mark()) } : {}),
    now: () => primary.now(),
    ...writes(primary, copies, fast),
    ...(primary.documents ? { documents: primary.documents } : {}),
    renew: (batch) => primary.renew(batch),
    read: (runId) => primary.read(runId),
    entries: (runId, range) => copies.entries(runId, range),
    blobs: (runId, hashes) => copies.blobs(runId, hashes),
    list: (query) => primary.list(query),
    ...defined({
      records: primary.records?.bind(primary),
      changes: primary.changes?.bind(primary),
      hear: primary.hear?.bind(primary),
      count: primary.count?.bind(primary),
      size: primary.size?.bind(primary),
      blobNames: primary.blobNames?.bind(primary),
    }),
    due: (query) => primary.due(query),
    setCacheTtl: (ttlOf) => copies.limit(ttlOf),
    close: () => (closing ??= closeAll(cache, fast, copies, primary)),
  };
}

async function closeAll(
  cache: PatientCache,
  fast: FastRecords,
  copies: Copies,
  primary: Store,
): Promise<void> {
  cache.wake();
  await fast.settle();
  await copies.close();
  await primary.close();
}

function writes(primary: Store, copies: Copies, fast: FastRecords): Pick<Store, "append" | "transaction"> {
  const append: Store["append"] = async (batch) => {
    try {
      const gone = await fast.before(batch);
      const results = await primary.append(batch);
      copies.wrote(batch, results);
      await fast.after(batch, results, gone);
      await copies.erase(batch.filter((_, index) => results[index]?.ok));
      return results;
    } catch (error) {
      copies.wrote(batch, null);
      throw error;
    }
  };
  const inner = primary.transaction?.bind(primary);
  if (!inner) return { append };
  const transaction: Store["transaction"] = async (work, appendOf) => {
    let made: Append | undefined;
    const answer = await inner(work, (value) => (made = appendOf(value))).catch((error: unknown) => {
      if (made) copies.wrote([made], null);
      throw error;
    });
    if (made) {
      copies.wrote([made], [answer.result]);
      await fast.after([made], [answer.result], new Map());
    }
    return answer;
  };
  return { append, transaction };
}
