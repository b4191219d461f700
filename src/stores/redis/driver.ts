import type * as Redis from "redis";
import { HoldfastError } from "../../core/errors.ts";
import { type Commands, onClient, type RedisClient, type RedisCluster, text } from "./commands.ts";

const CONNECT_MS = 10_000;
const LONGEST_REST_MS = 1_000;

type Package = Pick<typeof Redis, "createClient" | "createCluster">;

/** Opens our own connection with the package `redis`: to one server, or to the cluster that it belongs to. */
export async function connect(url: string, timeoutMs: number): Promise<Commands> {
  const redis = await load();
  const state = { isUp: false };
  const client = redis.createClient({ url, ...settings(state) });
  client.on("error", ignore);
  await client.connect();
  state.isUp = true;
  const info = text(await client.sendCommand(["INFO", "server"]));
  if (/^redis_mode:cluster\r?$/m.test(info ?? "")) {
    client.destroy();
    return connectCluster(redis, url, timeoutMs);
  }
  // Idle connections must not keep the process alive; a pending command does.
  client.unref();
  const end = async (): Promise<void> => client.destroy();
  return onClient({ client: client as unknown as RedisClient }, { timeoutMs, end });
}

async function connectCluster(redis: Package, url: string, timeoutMs: number): Promise<Commands> {
  const { username, password, protocol } = new URL(url);
  const state = { isUp: false };
  const { socket, ...rest } = settings(state);
  const cluster = redis.createCluster({
    rootNodes: [{ url }],
    defaults: {
      ...rest,
      ...(username === "" ? {} : { username: decodeURIComponent(username) }),
      ...(password === "" ? {} : { password: decodeURIComponent(password) }),
      socket: protocol === "rediss:" ? { ...socket, tls: true } : socket,
    },
  });
  cluster.on("error", ignore);
  await cluster.connect();
  state.isUp = true;
  const end = async (): Promise<void> => cluster.destroy();
  return onClient({ cluster: cluster as unknown as RedisCluster }, { timeoutMs, end });
}

/**
 * The first connection succeeds or fails; a lost one is retried for as long as it takes. Meanwhile commands fail at
 * once instead of being queued: they would be sent when no caller waits for them any more.
 */
const settings = (state: { readonly isUp: boolean }) => ({
  disableOfflineQueue: true,
  name: "holdfast",
  socket: {
    connectTimeout: CONNECT_MS,
    reconnectStrategy: (retries: number): number | false =>
      state.isUp && Math.min(LONGEST_REST_MS, 20 * 2 ** Math.min(retries, 10)),
  },
});

const ignore = (): void => undefined;

/** Throws HF-3015 when the package isn't installed. */
export async function load(): Promise<Package> {
  try {
    return await import("redis");
  } catch (error) {
    throw new HoldfastError("HF-3015", { package: "redis", store: "Redis" }, { cause: error });
  }
}
