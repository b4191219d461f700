import { type Commands, text } from "./commands.ts";

/** A cache of texts for the tiered store. */
export interface RedisCache {
  get(key: string): Promise<string | null>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  close(): Promise<void>;
}

/** After a failed connection, the next call tries again. */
export function cacheOn(connect: () => Promise<Commands>): RedisCache {
  let connecting: Promise<Commands> | undefined;
  let isClosed = false;
  const commands = (): Promise<Commands> => {
    if (isClosed) return Promise.reject(new Error("the cache is closed"));
    connecting ??= connect().catch((error: unknown) => {
      connecting = undefined;
      throw error;
    });
    return connecting;
  };
  return {
    async get(key) {
      return text(await (await commands()).send(key, ["GET", key]));
    },
    async set(key, value, ttlMs) {
      const seconds = Math.max(1, Math.ceil(ttlMs / 1000));
      await (await commands()).send(key, ["SETEX", key, String(seconds), value]);
    },
    async close() {
      isClosed = true;
      const open = await connecting?.catch(() => undefined);
      await open?.close();
    },
  };
}
