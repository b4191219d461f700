import { badOption, checkNumber, checkText, checkWhole } from "../../core/check-options.ts";
import { type Logger, silentLogger } from "../../core/logger.ts";
import type { Store } from "../../core/store/contract.ts";
import { checkOptions } from "../options.ts";
import { cacheOn, type RedisCache } from "./cache.ts";
import { type Commands, onClient, type RedisClient, type RedisCluster } from "./commands.ts";
import { connect } from "./driver.ts";
import { storeError } from "./errors.ts";
import { RedisStore } from "./store.ts";

export type { RedisCache } from "./cache.ts";
export type { RedisClient, RedisCluster } from "./commands.ts";

/** How to reach Redis. Give exactly one of the three. */
export interface RedisPlace {
  /** The server to connect to with the installed package `redis`. A server of a cluster leads to the others. */
  readonly url?: string;
  /** A connected client of the package `redis`, or an object of the same shape. Closing the store leaves it open. */
  readonly client?: RedisClient;
  /** A connected cluster client of the package `redis`, or an object of the same shape. It stays open too. */
  readonly cluster?: RedisCluster;
  /** How long one command may take before its outcome counts as unknown. Default 30,000. */
  readonly timeoutMs?: number;
}

/** Options of the Redis store. */
export interface RedisOptions extends RedisPlace {
  /** The beginning of every key, inside the braces that keep keys in one slot. Default `holdfast`. */
  readonly prefix?: string;
  /**
   * The number of cluster slots that the runs are spread over. Fixed when the store is created. Default 16; use more
   * for a cluster of more than a few servers.
   */
  readonly buckets?: number;
  /** How long completed and cancelled runs are kept, unless pinned. Default: for ever, as in every other store. */
  readonly ttlMs?: number;
  /** Receives a warning when the server's settings weaken the store's guarantees. */
  readonly logger?: Pick<Logger, "warn">;
}

const PLACE = ["url", "client", "cluster", "timeoutMs"];
const OPTIONS = [...PLACE, "prefix", "buckets", "ttlMs", "logger"];
const BUCKETS = 16;
const MOST_BUCKETS = 1024;

/**
 * Opens the Redis store on one server or a cluster, Redis 7.0 or later. It refuses a server that evicts keys.
 * `capabilities.durability` says what an acknowledged write survives under the server's settings: a power loss only
 * with `appendonly yes` and `appendfsync always`.
 *
 * @example
 * ```ts
 * import { openRedisStore } from "holdfast/stores/redis";
 *
 * export const store = await openRedisStore({ url: "redis://localhost:6379" });
 * ```
 */
export async function openRedisStore(options: RedisOptions): Promise<Store> {
  checkOptions("openRedisStore", options, OPTIONS);
  const { prefix = "holdfast", buckets = BUCKETS, ttlMs = null, logger = silentLogger } = options;
  checkWhole("buckets", buckets, 1, MOST_BUCKETS);
  if (ttlMs !== null) checkWhole("ttlMs", ttlMs);
  checkPlace(options);
  const commands = await commandsOf(options);
  const bucketsGiven = options.buckets !== undefined;
  try {
    const store = new RedisStore({ commands, prefix, buckets, bucketsGiven, ttlMs, logger });
    await store.identity();
    return store;
  } catch (error) {
    await commands.close();
    throw error;
  }
}

/**
 * Opens Redis as the cache of a tiered store. It connects on first use, so an unreachable server doesn't keep anything
 * from starting. Any settings will do: copies may be evicted.
 *
 * @example
 * ```ts
 * import { openRedisCache } from "holdfast/stores/redis";
 *
 * export const cache = openRedisCache({ url: "redis://localhost:6379" });
 * ```
 */
export function openRedisCache(place: RedisPlace): RedisCache {
  checkOptions("openRedisCache", place, PLACE);
  checkPlace(place);
  return cacheOn(() => commandsOf(place));
}

function checkPlace({ url, client, cluster, timeoutMs = 1 }: RedisPlace): void {
  checkNumber("timeoutMs", timeoutMs, { above: 0, most: Infinity });
  if ([url, client, cluster].filter((one) => one !== undefined).length !== 1)
    throw badOption("url", "exactly one of url, client and cluster must be given");
  if (url !== undefined) checkText("url", url, 1);
}

async function commandsOf({ url, client, cluster, timeoutMs = 30_000 }: RedisPlace): Promise<Commands> {
  const options = { timeoutMs, end: async () => undefined };
  if (client) return onClient({ client }, options);
  if (cluster) return onClient({ cluster }, options);
  const start = performance.now();
  try {
    return await connect(url ?? "", timeoutMs);
  } catch (error) {
    throw storeError(error, "Redis", performance.now() - start);
  }
}
