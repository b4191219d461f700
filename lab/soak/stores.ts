import {
  copiedPgliteKind,
  fileKind,
  postgresKind,
  redisKind,
  type StoreKind,
  sqliteKind,
} from "../../src/testing/store-kinds.ts";
import { type PostgresServer, startPostgres } from "../services/postgres.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";

export const soakStores = ["sqlite", "postgres", "redis", "file", "pglite", "tiered"] as const;
export type SoakStore = (typeof soakStores)[number];

/** Existing servers. Only our own are disturbed. */
export interface GivenServers {
  readonly postgres?: string | undefined;
  readonly redis?: string | undefined;
}

/** The store of a soak, and the servers started for it. */
export interface SoakGround {
  readonly kind: StoreKind;
  readonly postgres?: PostgresServer;
  readonly redis?: RedisServer;
  close(): Promise<void>;
}

/** Starts the servers that a kind of store needs, unless they are given; reports one that isn't available. */
export async function openGround(store: SoakStore, given: GivenServers = {}): Promise<SoakGround> {
  const started: { remove(): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    for (const server of started) await server.remove();
  };
  const have = <T extends { remove(): Promise<void> }>(server: T | null, what: string): T => {
    if (server === null) throw new Error(`${what} cannot be had: it is not installed, and no URL was given.`);
    started.push(server);
    return server;
  };
  const needs = {
    postgres: store === "postgres" || store === "tiered",
    redis: store === "redis" || store === "tiered",
  };
  try {
    const postgres =
      needs.postgres && given.postgres === undefined ? have(await startPostgres(), "PostgreSQL") : undefined;
    const redis = needs.redis && given.redis === undefined ? have(await startRedis(), "Redis") : undefined;
    const urls = { postgres: given.postgres ?? postgres?.url ?? "", redis: given.redis ?? redis?.url ?? "" };
    const kind = await kindOf(store, urls);
    return {
      kind,
      ...(postgres ? { postgres } : {}),
      ...(redis ? { redis } : {}),
      async close() {
        await kind.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function kindOf(
  store: SoakStore,
  { postgres, redis }: { readonly postgres: string; readonly redis: string },
): Promise<StoreKind> {
  switch (store) {
    case "sqlite":
      return sqliteKind;
    case "file":
      return fileKind;
    case "pglite":
      return copiedPgliteKind();
    case "postgres":
      return postgresKind(postgres);
    case "redis":
      return redisKind(redis);
    case "tiered":
      return postgresKind(postgres, redis);
  }
}
