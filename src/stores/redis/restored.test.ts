import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { createClient } from "redis";
import { afterAll, afterEach, describe } from "vitest";
import { useFolders } from "../../../test/support/folders.ts";
import { regressedStore, restoredBackups, strangeStore } from "../../../test/support/restored.ts";
import { type RedisServer, startRedis } from "../../../test/support/services/redis.ts";
import { missing } from "../../../test/support/services/service.ts";
import { openRedisStore } from "./index.ts";

const server = (await startRedis()) as RedisServer;
if (!server) missing("Redis", "it is not installed");

const newFolder = useFolders("redis-restored");
let count = 0;

const admin = createClient({ url: server?.url ?? "" });
admin.on("error", () => undefined);
if (server) await admin.connect();

afterEach(() => admin.flushAll());
afterAll(async () => {
  admin.destroy();
  await server?.remove();
});

function placeOf() {
  const prefix = `t${++count}`;
  const log = path.join(server.folder, "appendonlydir");
  return {
    online: true,
    open: () => openRedisStore({ url: server.url, prefix }),
    /** The append-only files are consistent at any moment, as long as no rewrite is running. */
    async backUp() {
      const copy = newFolder();
      await admin.configSet("auto-aof-rewrite-percentage", "0");
      execFileSync("cp", ["-a", log, copy]);
      return async () => {
        await server.stop();
        rmSync(log, { recursive: true });
        execFileSync("cp", ["-a", copy, log]);
        await server.start();
      };
    },
  };
}

describe.skipIf(!server)("on a server", () => {
  restoredBackups("Redis", placeOf);
  regressedStore("Redis", () => {
    const { open, backUp } = placeOf();
    return { open, disturb: backUp };
  });
  strangeStore("Redis", () => ({ open: placeOf().open, replace: async () => void (await admin.flushAll()) }));
  const emptied = async () => async () => void (await admin.flushAll());
  regressedStore("Redis (emptied)", () => ({ open: placeOf().open, disturb: emptied }), true);
});
