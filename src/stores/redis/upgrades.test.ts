import { createClient } from "redis";
import { afterAll, describe } from "vitest";
import { goesOn, ofEveryVersion, oldStores } from "../../../test/support/old-stores.ts";
import { type RedisServer, startRedis } from "../../../test/support/services/redis.ts";
import { missing } from "../../../test/support/services/service.ts";
import { openRedisStore } from "./index.ts";
import { metaKey } from "./keys.ts";
import { SCHEMA } from "./prepare.ts";

/** The prefix of every store that was kept. */
const PREFIX = "old";

const server = (await startRedis()) as RedisServer;
if (!server) missing("Redis", "it is not installed");
const admin = createClient(server ? { url: server.url } : {});
if (server) await admin.connect();
afterAll(async () => {
  if (!server) return;
  admin.destroy();
  await server.remove();
});

/** Puts the keys of a store into the emptied server, and returns the version that wrote it. */
async function restore(content: Buffer): Promise<string | null> {
  const dumps = JSON.parse(content.toString("utf8")) as Readonly<Record<string, string>>;
  await admin.flushAll();
  for (const [key, dump] of Object.entries(dumps)) await admin.restore(key, 0, Buffer.from(dump, "base64"));
  return admin.hGet(metaKey(PREFIX), "schema");
}

describe.skipIf(!server)("a Redis store", async () => {
  const stores = oldStores("redis.json");
  const versions = [];
  if (server) for (const [, content] of stores) versions.push(Number(await restore(content)));
  ofEveryVersion(versions, SCHEMA);
  for (const [commit, content] of stores)
    goesOn(commit, async () => {
      await restore(content);
      return openRedisStore({ url: server.url, prefix: PREFIX });
    });
});
