import { createClient } from "redis";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { sharedRedis } from "../../../test/support/services/redis.ts";
import type { Append, Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import {
  accepted,
  creation,
  everythingOf,
  HOUR,
  outsideAct,
  step,
  storeConformance,
  take,
} from "../../testing/conformance/index.ts";
import { type Commands, onClient, script } from "./commands.ts";
import { openRedisStore, type RedisClient, type RedisOptions } from "./index.ts";
import { RedisStore } from "./store.ts";

const single = await sharedRedis();
const { url } = single;

const clock = {
  time: 1_800_000_000_000,
  now: () => clock.time,
  advance: (ms: number) => {
    clock.time += ms;
  },
};

/** A client independent of Holdfast. */
const admin = createClient(url === undefined ? {} : { url });
if (url !== undefined) await admin.connect();

const PREFIX = `t${process.pid}-`;
let count = 0;
const newPrefix = (): string => `${PREFIX}${++count}`;

const opened: Store[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
afterAll(async () => {
  if (url === undefined) return;
  const keys = await keysUnder(PREFIX);
  for (let i = 0; i < keys.length; i += 1000) await admin.unlink(keys.slice(i, i + 1000));
  admin.destroy();
});

async function keysUnder(prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const some of admin.scanIterator({ MATCH: `{${prefix}*`, COUNT: 1000 })) keys.push(...some);
  return [...new Set(keys)].sort();
}

/** Opens a store with its own prefix, unless told otherwise. */
async function open(options: RedisOptions = {}): Promise<Store & { readonly prefix: string }> {
  const prefix = options.prefix ?? newPrefix();
  const place = options.client || options.cluster ? {} : { url: url as string };
  const store = await openRedisStore({ ...place, ...options, prefix });
  opened.push(store);
  return Object.assign(store, { prefix });
}

/** Replaces the server's clock with this one. */
const timed = (inner: Commands): Commands => ({
  ...inner,
  send: async (key, args) =>
    args[0] === "TIME"
      ? [Math.floor(clock.now() / 1000), (clock.now() % 1000) * 1000]
      : inner.send(key, args),
  run: (program, keys, args) => {
    const { text } = program;
    const time = `{${Math.floor(clock.now() / 1000)}, ${(clock.now() % 1000) * 1000}}`;
    return inner.run(script(text.replaceAll("redis.call('TIME')", time)), keys, args);
  },
});

if (url === undefined) {
  it.skip(`the redis store (skipped: ${single.missing})`, () => undefined);
} else {
  let prefix = "";
  const setup = { buckets: 3, bucketsGiven: true, ttlMs: null, logger: { warn: () => undefined } };
  const commands = timed(onClient({ client: admin }, { timeoutMs: 20_000, end: async () => undefined }));
  const start = async (): Promise<Store> => new RedisStore({ ...setup, commands, prefix });
  const fresh = (): Promise<Store> => {
    prefix = newPrefix();
    return start();
  };
  storeConformance({ name: "redis", open: fresh, reopen: start, clock }, { describe, it });
}

describe.skipIf(url === undefined)("opening a Redis store", () => {
  it("lets twenty first starts at once agree on one identity", async () => {
    const prefix = newPrefix();
    const stores = await Promise.all(Array.from({ length: 20 }, () => open({ prefix })));
    const identities = await Promise.all(stores.map((store) => store.identity()));
    expect(new Set(identities.map(({ secret }) => secret)).size).toBe(1);
    expect(new Set(identities.map(({ incarnation }) => incarnation)).size).toBe(1);
  });

  it("keeps two stores apart by their prefixes", async () => {
    const [one, two] = [await open(), await open()];
    await accepted(one, creation({ blobs: [{ hash: "h", data: "d" }] }));
    expect(await two.read("run-1")).toBeNull();
    expect((await two.list({ limit: 10 })).runs).toEqual([]);
  });

  it("says that an acknowledged write survives a power loss when the server syncs each", async () => {
    expect((await open()).capabilities).toMatchObject({ durability: "power-loss", transactions: false });
  });

  it("refuses options it cannot honour", async () => {
    const { prefix } = await open({ buckets: 4 });
    for (const options of [
      {},
      { url: url as string, client: admin },
      { url: url as string, prefix: "a{b}" },
      { url: url as string, prefix: "" },
      { url: url as string, timeoutMs: 0 },
      { url: url as string, buckets: 0 },
      { url: url as string, buckets: 5000 },
      { url: url as string, buckets: 5, prefix },
      { url: url as string, ttlMs: 0 },
      { url: "postgresql://me:hush@localhost/x" },
      { url: "redis://me:hush@[bad/x" },
    ])
      await expect(openRedisStore(options)).rejects.toMatchObject({ code: "HF-1003" });
    expect((await open({ prefix })).capabilities.transactions).toBe(false);
  });

  it("never shows a password in an error", async () => {
    const seen: string[] = [];
    for (const there of ["redis://me:hush@[bad/x", "redis://me:hush@127.0.0.1:1/x", "http://me:hush@x"]) {
      const error = await openRedisStore({ url: there }).catch((thrown: unknown) => thrown);
      for (let one = error; one instanceof Error; one = one.cause)
        seen.push(one.message, JSON.stringify(one));
    }
    expect(seen.length).toBeGreaterThan(3);
    expect(seen.filter((text) => text.includes("hush"))).toEqual([]);
  });

  it("tells a server that is away", async () => {
    await expect(openRedisStore({ url: "redis://127.0.0.1:1" })).rejects.toMatchObject({ code: "HF-3002" });
  });

  it("raises the number of a store of an older version, which that one then refuses (R15)", async () => {
    const { prefix } = await open();
    await admin.hSet(`{${prefix}}meta`, "schema", "1");
    await open({ prefix });
    expect(await admin.hGet(`{${prefix}}meta`, "schema")).toBe("3");
  });

  it("does not touch a store of a newer version, or keys of another program", async () => {
    const { prefix } = await open();
    await admin.hSet(`{${prefix}}meta`, "schema", "99");
    await expect(open({ prefix })).rejects.toMatchObject({
      code: "HF-3005",
      detail: { found: 99, known: 3 },
    });
    const theirs = newPrefix();
    await admin.set(`{${theirs}}meta`, "something else");
    await expect(open({ prefix: theirs })).rejects.toMatchObject({ code: "HF-3006" });
    expect(await admin.get(`{${theirs}}meta`)).toBe("something else");
    const other = newPrefix();
    await admin.hSet(`{${other}}meta`, "colour", "red");
    await expect(open({ prefix: other })).rejects.toMatchObject({ code: "HF-3006" });
    expect(await keysUnder(other)).toEqual([`{${other}}meta`]);
  });
});

describe.skipIf(url === undefined)("appends to Redis", () => {
  it("let one of two clients that race for a claim win, every time (S1-24)", async () => {
    const prefix = newPrefix();
    const [one, two] = [await open({ prefix }), await open({ prefix })];
    const wins = { one: 0, two: 0 };
    for (let i = 0; i < 40; i++) {
      const row = await accepted(one, creation({ run: { id: `run-${i}` }, claim: { kind: "release" } }));
      const claim = (store: Store, owner: string) => store.append([outsideAct(row, { claim: take(owner) })]);
      const order =
        i % 2 === 0
          ? [() => claim(one, "one"), () => claim(two, "two")]
          : [() => claim(two, "two"), () => claim(one, "one")];
      const answers = (await Promise.all(order.map((go) => go()))).flat();
      expect(answers.filter(({ ok }) => ok).length).toBe(1);
      expect(answers.find(({ ok }) => !ok)).toMatchObject({ reason: "held", row: { claim: { epoch: 1 } } });
      wins[((await one.read(row.id)) as RunRow).claim.owner as "one" | "two"]++;
    }
    expect(wins.one + wins.two).toBe(40);
  });

  it("are taken a thousand at a time, each on its own merits", async () => {
    const store = await open();
    const ids = Array.from({ length: 1000 }, (_, i) => `run-${i}`);
    await store.append(ids.map((id) => creation({ run: { id }, blobs: [{ hash: "h", data: id }] })));
    const first = (await store.read("run-0")) as RunRow;
    const batch = ids.map((id, i) =>
      step({ ...first, id }, i % 3 === 0 ? { expect: { token: "stolen" } } : {}),
    );
    const results = await store.append(batch);
    expect(results.map((result) => (result.ok ? "ok" : [result.reason, result.row?.id]))).toEqual(
      ids.map((id, i) => (i % 3 === 0 ? ["fenced", id] : "ok")),
    );
    expect((await store.list({ limit: 1000 })).runs.length).toBe(1000);
    expect(await store.blobs("run-7", ["h"])).toEqual(new Map([["h", "run-7"]]));
  });

  it("find a run's lists whatever this process last knew of it", async () => {
    const prefix = newPrefix();
    const [one, two] = [await open({ prefix }), await open({ prefix })];
    const row = await accepted(one, creation());
    const failed = await accepted(two, step(row, { run: { status: "failed" } }));
    const again = await accepted(one, step(failed, { run: { status: "waiting", workflow: "other" } }));
    expect(again.workflow).toBe("orders");
    const idsIn = async (status: RunRow["status"]) =>
      (await two.list({ status: [status], limit: 10 })).runs.map(({ id }) => id);
    expect([await idsIn("running"), await idsIn("failed"), await idsIn("waiting")]).toEqual([
      [],
      [],
      ["run-1"],
    ]);
    const [renewed] = await two.renew([{ runId: row.id, epoch: 1, token: "ada-token", ttlMs: HOUR }]);
    expect(renewed?.claim.owner).toBe("ada");
  });

  it("stand in exactly the lists that their rows say", async () => {
    const store = await open({ buckets: 2 });
    const statuses = ["queued", "running", "completed", "failed"] as const;
    for (let i = 0; i < 12; i++) {
      let row = await accepted(store, creation({ run: { id: `run-${i}` } }));
      for (let n = 0; n < i % 4; n++)
        row = await accepted(
          store,
          step(row, { run: { status: statuses[n] ?? "queued", wakeAt: n === 2 ? null : n } }),
        );
      if (i % 3 === 0) await accepted(store, step(row, { claim: { kind: "release" } }));
    }
    const members: Record<string, number> = {};
    for (const key of await keysUnder(store.prefix)) {
      const [, family = ""] = /\}(\w+)/.exec(key) ?? [];
      if ((await admin.type(key)) !== "zset" || family === "log") continue;
      members[family] = (members[family] ?? 0) + (await admin.zCard(key));
    }
    const { runs } = await store.list({ limit: 100 });
    const waking = runs.filter(({ wakeAt }) => wakeAt !== null);
    expect(members).toEqual({
      all: 12,
      of: 12,
      at: 24,
      wake: waking.length,
      held: waking.filter(({ claim }) => claim.until > 0).length,
      due: waking.filter(({ claim }) => claim.until === 0).length,
    });
  });

  it("keep numbers and odd texts, also through a client that gives bytes", async () => {
    const bytes = admin.withTypeMapping({ 36: Buffer });
    const store = await open({ client: bytes as unknown as RedisClient });
    const run = { error: 'a\0b \ud800 \\"', wakeAt: 1.5, usage: { tokens: 0.1 + 0.2, costUsd: 5e-324 } };
    const row = await accepted(store, creation({ run, blobs: [{ hash: "h", data: "🦊" }] }));
    expect(row).toMatchObject(run);
    expect((await store.list({ limit: 1 })).runs).toEqual([row]);
    expect(await store.blobs(row.id, ["h"])).toEqual(new Map([["h", "🦊"]]));
  });

  it("are done also when the server has forgotten the script", async () => {
    const store = await open();
    const row = await accepted(store, creation());
    await admin.scriptFlush();
    const batch: Append[] = [step(row), step({ ...row, seq: 2 }), creation({ run: { id: "other" } })];
    expect(await store.append(batch)).toEqual(Array(3).fill({ ok: true }));
    expect((await everythingOf(store, row.id)).entries.length).toBe(3);
  });
});

describe.skipIf(url === undefined)("runs that are kept for a time", () => {
  const DONE = { status: "completed", finishedAt: 1, wakeAt: null } as const;
  const lifetimes = async (prefix: string, id = "run-1") => {
    const own = (await keysUnder(prefix)).filter(
      (key) => key.endsWith(`:${id}`) && /\}(run|log|data|blobs):/.test(key),
    );
    const times = await Promise.all(own.map((key) => admin.pExpireTime(key)));
    return { keys: own.length, times: [...new Set(times)] };
  };

  it("are kept for ever unless told otherwise", async () => {
    const store = await open();
    await accepted(store, creation({ run: DONE, blobs: [{ hash: "h", data: "d" }] }));
    expect(await lifetimes(store.prefix)).toEqual({ keys: 4, times: [-1] });
  });

  it("expire whole once they have ended for good", async () => {
    const store = await open({ ttlMs: HOUR });
    const row = await accepted(store, creation({ blobs: [{ hash: "h", data: "d" }] }));
    expect(await lifetimes(store.prefix)).toEqual({ keys: 4, times: [-1] });
    const failed = await accepted(store, step(row, { run: { ...DONE, status: "failed" } }));
    expect((await lifetimes(store.prefix)).times).toEqual([-1]);
    const done = await accepted(store, step(failed, { run: DONE }));
    const [time, ...others] = (await lifetimes(store.prefix)).times;
    expect(others).toEqual([]);
    expect((time ?? 0) - (await store.now())).toBeGreaterThan(HOUR - 60_000);
    await accepted(store, outsideAct(done, { run: { ...DONE, pinned: true } }));
    expect((await lifetimes(store.prefix)).times).toEqual([-1]);
  });

  it("are gone from every list when their time has come", async () => {
    const store = await open({ ttlMs: 1, buckets: 1 });
    await store.append(["a", "b"].map((id) => creation({ run: { id, ...DONE } })));
    const row = await accepted(store, creation({ run: { id: "c" } }));
    await expect.poll(() => lifetimes(store.prefix, "a")).toEqual({ keys: 0, times: [] });
    for (const query of [{}, { status: ["completed" as const, "running" as const] }, { workflow: "orders" }])
      expect((await store.list({ ...query, limit: 10 })).runs).toEqual([row]);
    expect(await admin.zRange(`{${store.prefix}.0}all`, 0, -1)).toEqual(["c"]);
    expect(await store.read("a")).toBeNull();
    expect((await everythingOf(store, "b")).entries).toEqual([]);
    await accepted(store, creation({ run: { id: "a" } }));
  });
});

describe.skipIf(url === undefined)("a client that is brought along", () => {
  it("stays open when the store is closed", async () => {
    const store = await open({ client: admin });
    await accepted(store, creation());
    await store.close();
    expect(await admin.ping()).toBe("PONG");
  });
});
