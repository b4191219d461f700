import { createClient } from "redis";
import { afterAll, describe, it } from "vitest";
import { sharedRedis } from "../../../test/support/services/redis.ts";
import { checkAgainstModel, MODEL_NOW } from "../../../test/support/store-model.ts";
import { onClient, script } from "./commands.ts";
import { RedisStore } from "./store.ts";

const server = await sharedRedis();

describe.skipIf(server.url === undefined)("the redis store beside the memory store", () => {
  const client = createClient(server.url === undefined ? {} : { url: server.url });
  afterAll(async () => {
    for await (const keys of client.scanIterator({ MATCH: `{model-${process.pid}-*`, COUNT: 1000 }))
      if (keys.length > 0) await client.unlink(keys);
    client.destroy();
  });

  it("gives the same answers and holds the same, whatever is appended", { timeout: 120_000 }, async () => {
    await client.connect();
    const inner = onClient({ client }, { timeoutMs: 20_000, end: async () => undefined });
    const still = (text: string) => text.replaceAll("redis.call('TIME')", `{${MODEL_NOW / 1000}, 0}`);
    const commands: typeof inner = {
      ...inner,
      run: (program, keys, args) => inner.run(script(still(program.text)), keys, args),
    };
    let count = 0;
    const setup = {
      commands,
      buckets: 2,
      bucketsGiven: true,
      ttlMs: null,
      logger: { warn: () => undefined },
    };
    await checkAgainstModel(
      async () => new RedisStore({ ...setup, prefix: `model-${process.pid}-${++count}` }),
      60,
    );
  });
});
