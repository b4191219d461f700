import { HoldfastError } from "../../core/errors.ts";
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

/** How to reach Redis: exactly one of the three. */
export interface RedisPlace {
  /** Where to connect to, by the installed package `redis`. A server that is part of a cluster leads to the others. */
  readonly url?: string;
  /** A connected client of the package `redis`, or one of the same shape. It stays open when the store is closed. */
  readonly client?: RedisClient;
  /** A connected cluster client of the package `redis`, or one of the same shape. It stays open too. */
  readonly cluster?: RedisCluster;
  /** How long one command may take before its outcome counts as unknown. Default 30,000. */
  readonly timeoutMs?: number;
}

/** Options of the Redis store: how to reach it, and the rest as it pleases. */
export interface RedisOptions extends RedisPlace {
  /** What the names of all keys begin with, inside the braces that keep them together. Default `holdfast`. */
  readonly prefix?: string;
  /**
   * Over how many slots of a cluster the runs are spread. Fixed when the store is made. Default 16; more when a cluster
   * has more than a few servers.
   */
  readonly buckets?: number;
  /** How long completed and cancelled runs are kept, unless pinned. By default for ever, as in every other store. */
  readonly ttlMs?: number;
  /** Told when the server's settings weaken what the store promises. */
  readonly logger?: Pick<Logger, "warn">;
}

const OPTIONS = ["url", "client", "cluster", "timeoutMs", "prefix", "buckets", "ttlMs", "logger"];
const BUCKETS = 16;
const MOST_BUCKETS = 1024;

/**
 * Opens the Redis store, on one server or on a cluster, from Redis 7.0 on. It refuses a server that evicts keys, and
 * `capabilities.durability` says what the server's settings make of an acknowledged write: only with
 * `appendonly yes` and `appendfsync always` does it survive a power loss.
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
  if (!Number.isInteger(buckets) || buckets < 1 || buckets > MOST_BUCKETS)
    throw invalid("buckets", `it must be 1 to ${MOST_BUCKETS}`);
  if (ttlMs !== null && !(Number.isInteger(ttlMs) && ttlMs > 0))
    throw invalid("ttlMs", "it must be a whole number over 0");
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
 * Redis as the cache of a tiered store. It connects when it is first used, so that a server that is away keeps nothing
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
  checkPlace(place);
  return cacheOn(() => commandsOf(place));
}

function checkPlace({ url, client, cluster, timeoutMs = 1 }: RedisPlace): void {
  if (!(timeoutMs > 0)) throw invalid("timeoutMs", "it must be more than 0");
  if ([url, client, cluster].filter((one) => one !== undefined).length !== 1)
    throw invalid("url", "exactly one of url, client and cluster must be given");
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

const invalid = (option: string, problem: string) => new HoldfastError("HF-1003", { option, problem });
