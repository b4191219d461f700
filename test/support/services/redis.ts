import {
  type RedisServer,
  type RedisServerOptions,
  redisProgram,
  startRedis as startInstalled,
} from "../../../lab/services/redis.ts";
import { installed, missing, shared } from "./service.ts";

export type { RedisServer } from "../../../lab/services/redis.ts";

const isThere = (): Promise<boolean> => installed(redisProgram, "redis-server");

/** Starts a server for one test file; `null` when Redis cannot be had on this machine. */
export async function startRedis(options?: RedisServerOptions): Promise<RedisServer | null> {
  return (await isThere()) ? startInstalled(options) : null;
}

interface SharedRedis {
  readonly url?: string;
  readonly missing?: string;
}

/**
 * The URL of a Redis server that all test files of this run share: the one named by HOLDFAST_TEST_REDIS_URL, or one that
 * is started now. Without either, `missing` says why.
 */
export async function sharedRedis(): Promise<SharedRedis> {
  const given = process.env["HOLDFAST_TEST_REDIS_URL"];
  return given ? { url: given } : sharedServer("redis", {});
}

/** The same for a cluster of one node. */
export const sharedRedisCluster = (): Promise<SharedRedis> =>
  sharedServer("redis-cluster", { cluster: true });

async function sharedServer(name: string, options: RedisServerOptions): Promise<SharedRedis> {
  if (!(await isThere())) return { missing: missing("Redis", "it is not installed, and no URL was given") };
  return shared(name, async () => {
    const server = await startRedis(options);
    if (!server) throw new Error("Redis has gone");
    const { url, pid, folder } = server;
    return { url, pid, folder };
  });
}
