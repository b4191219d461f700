import type { OutageOptions } from "../crash/outages.ts";
import { startCuttingProxy } from "../services/proxy.ts";
import type { RedisServer } from "../services/redis.ts";
import type { SoakGround } from "./stores.ts";

/** The statements of the PostgreSQL store that change a run. */
const APPENDS = /INSERT INTO \S*journal\b|append_(?:one|many)\(/;

/** Cuts connections to PostgreSQL, alternating between before and after a commit. */
export async function cutsOf({ postgres }: Pick<SoakGround, "postgres">): Promise<{
  readonly way: Pick<OutageOptions, "strike" | "through">;
  readonly close: () => Promise<void>;
}> {
  if (!postgres) throw new Error("Cuts need a PostgreSQL server that was started for this.");
  const proxy = await startCuttingProxy(postgres.port, APPENDS);
  return {
    way: {
      strike: (nth) => proxy.cut(nth % 2 === 0 ? "before" : "after"),
      through(address) {
        const there = new URL(address.url);
        there.port = String(proxy.port);
        return { ...address, url: there.href };
      },
    },
    close: () => proxy.close(),
  };
}

/**
 * Kills and restarts the server. Under the tiered store, Redis is emptied, killed and kept down for a while, in turn
 * with kills of PostgreSQL.
 */
export function strikesOf({
  kind,
  postgres,
  redis,
}: Omit<SoakGround, "close">): Pick<OutageOptions, "strike"> {
  const killPostgres = async (): Promise<void> => {
    postgres?.kill();
    await postgres?.start();
  };
  if (postgres && redis) {
    let isAway = false;
    const turns = [
      () => emptied(redis),
      () => restarted(redis),
      killPostgres,
      async () => {
        await emptied(redis);
        await redis.stop("SIGKILL");
        isAway = true;
      },
    ];
    return {
      async strike(nth) {
        if (isAway) await redis.start();
        isAway = false;
        await turns[nth % turns.length]?.();
      },
    };
  }
  if (postgres) return { strike: killPostgres };
  if (redis) return { strike: () => restarted(redis) };
  throw new Error(`There is no server of ${kind.name} that was started for this.`);
}

async function restarted(redis: RedisServer): Promise<void> {
  await redis.stop("SIGKILL");
  await redis.start();
}

async function emptied({ url }: RedisServer): Promise<void> {
  const { createClient } = await import("redis");
  const client = createClient({ url });
  client.on("error", () => undefined);
  await client.connect();
  await client.flushAll();
  client.destroy();
}
