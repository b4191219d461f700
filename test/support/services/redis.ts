import {
  type RedisServer,
  type RedisServerOptions,
  redisProgram,
  startRedis as startInstalled,
} from "../../../lab/services/redis.ts";
import { installed, missing, shared } from "./service.ts";

export type { RedisServer } from "../../../lab/services/redis.ts";

const isThere = (): Promise<boolean> => installed(redisProgram, "redis-server");

/** Starts a server for one test file; returns `null` when Redis isn't available. */
export async function startRedis(options?: RedisServerOptions): Promise<RedisServer | null> {
  return (await isThere()) ? startInstalled(options) : null;
}

interface SharedRedis {
  readonly url?: string;
  readonly missing?: string;
}

/**
 * The URL of a Redis server shared by all test files of this run: the one named by HOLDFAST_TEST_REDIS_URL, or one that
 * is started now. Without either, `missing` says why.
 */
export async function sharedRedis(): Promise<SharedRedis> {
  const given = process.env["HOLDFAST_TEST_REDIS_URL"];
  return given ? { url: given } : sharedServer("redis", {});
}

/** A shared cluster of one node. */
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
