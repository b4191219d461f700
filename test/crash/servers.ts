import type { PostgresServer } from "../../lab/services/postgres.ts";
import type { RedisServer } from "../../lab/services/redis.ts";
import { postgresKind, redisKind, type StoreKind } from "../../src/testing/store-kinds.ts";
import { startPostgres } from "../support/services/postgres.ts";
import { startRedis } from "../support/services/redis.ts";
import { missing } from "../support/services/service.ts";

/** Servers of one test file, which may be disturbed, and the kinds of stores on them. */
export interface Servers {
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  readonly kinds: { readonly postgres: StoreKind; readonly redis: StoreKind; readonly tiered: StoreKind };
  close(): Promise<void>;
}

/** Returns `null`, with a loud message, when one of them isn't available. */
export async function startServers(): Promise<Servers | null> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  if (!postgres) missing("PostgreSQL", "it is not installed");
  if (!redis) missing("Redis", "it is not installed");
  if (!postgres || !redis) {
    await Promise.all([postgres?.remove(), redis?.remove()]);
    return null;
  }
  const kinds = {
    postgres: await postgresKind(postgres.url),
    redis: await redisKind(redis.url),
    tiered: await postgresKind(postgres.url, redis.url),
  };
  return {
    postgres,
    redis,
    kinds,
    async close() {
      for (const kind of Object.values(kinds)) await kind.close();
      await postgres.remove();
      await redis.remove();
    },
  };
}
