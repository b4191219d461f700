import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import path from "node:path";
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type RedisServer, startRedis } from "../../../test/support/services/redis.ts";
import { freePort, missing } from "../../../test/support/services/service.ts";
import { startProxy, type TcpProxy } from "../../../test/support/services/tcp-proxy.ts";
import type { Append, Store } from "../../core/store/contract.ts";
import { createEngine, workflow } from "../../index.ts";
import { accepted, creation, everythingOf, step } from "../../testing/conformance/index.ts";
import { openRedisStore, type RedisOptions } from "./index.ts";

/** These tests crash the servers and change their settings, so they have their own. */
const server = (await startRedis()) as RedisServer;
const locked = (await startRedis({ password: "right" })) as RedisServer;
if (!server) missing("Redis", "it is not installed");

const onServer = describe.skipIf(!server);
let proxy: TcpProxy;
const admin = createClient({ url: server?.url ?? "" });
admin.on("error", () => undefined);
let count = 0;
const opened: Store[] = [];

beforeAll(async () => {
  if (!server) return;
  proxy = await startProxy(server.port);
  await admin.connect();
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
afterAll(async () => {
  if (!server) return;
  admin.destroy();
  await proxy.close();
  await server.remove();
  await locked.remove();
});

async function open(options: RedisOptions = {}): Promise<Store> {
  const store = await openRedisStore({ url: server.url, prefix: `t${++count}`, ...options });
  opened.push(store);
  return store;
}

const throughProxy = (): string => `redis://127.0.0.1:${proxy.port}`;

/** Checks the outcome of an append as the engine does: by the entry at its position. */
async function hasLanded(store: Store, { run, entries }: Append): Promise<boolean> {
  const last = entries.at(-1);
  const [found] = await store.entries(run.id, { from: last?.seq ?? 0, limit: 1 });
  return found?.seq === last?.seq && found?.head === last?.head;
}

/** Repeats `work` until the client has reconnected. */
const back = <T>(work: () => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const deadline = performance.now() + 15_000;
    const go = (): void => {
      work().then(resolve, (error: unknown) => {
        if (performance.now() > deadline) reject(error instanceof Error ? error : new Error(String(error)));
        else setImmediate(go);
      });
    };
    go();
  });

onServer("an append whose answer does not come", () => {
  it("was taken when only the answer was lost, and is found by its head", async () => {
    const store = await open({ url: throughProxy() });
    const row = await accepted(store, creation());
    for (const batch of [[step(row)], [step({ ...row, seq: 2 }), creation({ run: { id: "other" } })]]) {
      proxy.loseNextAnswer();
      await expect(store.append(batch)).rejects.toMatchObject({ code: "HF-3002" });
      for (const append of batch) expect(await back(() => hasLanded(store, append))).toBe(true);
      const again = await store.append(batch);
      expect(again.map((result) => (result.ok ? "taken" : result.reason))).not.toContain("taken");
    }
    expect((await everythingOf(store, row.id)).entries.length).toBe(3);
  });

  it("may still be taken after its time was up, and whoever asks then is told the truth", async () => {
    const store = await open({ timeoutMs: 200 });
    const append = step(await accepted(store, creation()));
    await admin.sendCommand(["CLIENT", "PAUSE", "500", "ALL"]);
    await expect(store.append([append])).rejects.toMatchObject({ code: "HF-3002" });
    expect(await back(() => hasLanded(store, append))).toBe(true);
    expect(await store.append([append])).toMatchObject([{ ok: false, reason: "conflict", row: { seq: 2 } }]);
  });

  it("was not taken when the server was killed before it could be", async () => {
    const store = await open();
    const row = await accepted(store, creation());
    await server.stop("SIGKILL");
    const append = step(row);
    await expect(store.append([append])).rejects.toMatchObject({ code: "HF-3002" });
    await server.start();
    expect(await back(() => hasLanded(store, append))).toBe(false);
    await accepted(store, append);
  });

  it("is looked up by the engine, which calls nothing twice", async () => {
    const store = await open({ url: throughProxy() });
    const calls: string[] = [];
    const trip = workflow("trip", async (ctx) => {
      for (const name of ["book", "pay", "pack"])
        await ctx.step(name, async () => {
          calls.push(name);
          proxy.loseNextAnswer();
        });
      return "gone";
    });
    const engine = createEngine({ store, workflows: [trip], holdMs: 60_000 });
    const run = await engine.start(trip, undefined);
    expect(await back(() => engine.result(run.id))).toBe("gone");
    expect(calls).toEqual(["book", "pay", "pack"]);
    expect((await back(() => store.read(run.id)))?.stepsDone).toBe(3);
    await engine.close();
  });
});

onServer("a server that is killed", () => {
  it("has everything that was acknowledged when it comes back, and the same store goes on", async () => {
    const store = await open();
    let row = await accepted(store, creation({ blobs: [{ hash: "h", data: "🦊" }] }));
    let acknowledged = row.seq;
    for (let round = 0; round < 3; round++) {
      const writing = (async () => {
        for (let seq = acknowledged; ; seq++) {
          await store.append([step({ ...row, seq })]);
          acknowledged = seq + 1;
        }
      })().catch((error: unknown) => error);
      await expect.poll(() => acknowledged).toBeGreaterThan(row.seq + 20);
      await server.stop("SIGKILL");
      expect(await writing).toMatchObject({ code: "HF-3002" });
      await server.start();
      const { row: found, entries } = await back(() => everythingOf(store, row.id));
      expect(found?.seq).toBeGreaterThanOrEqual(acknowledged);
      expect(found?.seq).toBeLessThanOrEqual(acknowledged + 1);
      expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: found?.seq ?? 0 }, (_, i) => i + 1));
      row = found ?? row;
      acknowledged = row.seq;
    }
    expect((await store.list({ status: ["running"], limit: 10 })).runs.map(({ id }) => id)).toEqual([row.id]);
    expect(await store.blobs(row.id, ["h"])).toEqual(new Map([["h", "🦊"]]));
    await accepted(store, step(row));
  });
});

onServer("a server that was emptied", () => {
  it("is not written to as if nothing had happened", async () => {
    const [store, prefix] = [await open({ prefix: "emptied" }), "emptied"];
    const row = await accepted(store, creation());
    await back(() => admin.flushAll());
    await expect(store.append([step(row)])).rejects.toMatchObject({ code: "HF-3021" });
    await expect(store.append([creation({ run: { id: "new" } })])).rejects.toMatchObject({ code: "HF-3021" });
    await expect(
      store.renew([{ runId: row.id, epoch: 1, token: "ada-token", ttlMs: 1 }]),
    ).rejects.toMatchObject({
      code: "HF-3021",
    });
    const again = await open({ prefix });
    await accepted(again, creation());
    await expect(store.identity()).rejects.toMatchObject({ code: "HF-3021" });
    await expect(store.append([step(row)])).rejects.toMatchObject({ code: "HF-3021" });
    expect((await again.read(row.id))?.seq).toBe(1);
  });
});

onServer("a server's settings", () => {
  const set = (name: string, value: string) => back(() => admin.configSet(name, value));

  it("are refused when it would evict runs", async () => {
    for (const policy of ["allkeys-lru", "volatile-ttl"]) {
      await set("maxmemory-policy", policy);
      const failure = await open({ prefix: "evicting" }).catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: "HF-3022",
        message: expect.stringContaining(policy),
        fix: expect.stringContaining("CONFIG SET maxmemory-policy noeviction"),
      });
    }
    await set("maxmemory-policy", "noeviction");
    expect(await admin.keys("{evicting*")).toEqual([]);
  });

  it("are noticed when somebody lets it evict runs while it is in use (D11)", async () => {
    const store = await open({ prefix: "evicting-later" });
    await set("maxmemory-policy", "allkeys-lru");
    await expect(store.identity()).rejects.toMatchObject({ code: "HF-3022" });
    await set("maxmemory-policy", "noeviction");
    await store.identity();
  });

  it("lower what the store promises, and say so", async () => {
    const warnings: unknown[] = [];
    const logger = { warn: (message: string, fields?: object) => void warnings.push([message, fields]) };
    const levels: string[] = [];
    for (const [name, value] of [
      ["appendfsync", "everysec"],
      ["appendfsync", "no"],
      ["appendonly", "no"],
      ["appendonly", "yes"],
      ["appendfsync", "always"],
    ] as const) {
      await set(name, value);
      levels.push((await open({ logger })).capabilities.durability);
    }
    expect(levels).toEqual(["process", "process", "none", "process", "power-loss"]);
    expect(warnings.length).toBe(4);
    expect(JSON.stringify(warnings)).toContain("appendfsync is everysec");
    expect(JSON.stringify(warnings)).toContain("appendonly is off");
  });

  it("are not claimed when they may not be read", async () => {
    await admin.sendCommand("ACL SETUSER plain on >word ~* &* +@all -config".split(" "));
    const url = server.url.replace("//", "//plain:word@");
    expect((await open({ url })).capabilities.durability).toBe("process");
    await admin.sendCommand(["ACL", "DELUSER", "plain"]);
  });

  it("that make it a replica are refused", async () => {
    await admin.sendCommand(["REPLICAOF", "127.0.0.1", "1"]);
    await expect(open()).rejects.toMatchObject({
      code: "HF-3022",
      fix: expect.stringContaining("REPLICAOF"),
    });
    await admin.sendCommand(["REPLICAOF", "NO", "ONE"]);
  });

  it("that leave no memory stop an append before it begins", async () => {
    const store = await open();
    const row = await accepted(store, creation());
    const before = await everythingOf(store, row.id);
    await set("maxmemory", "1");
    const append = step(row, { run: { status: "failed" }, blobs: [{ hash: "h", data: "d" }] });
    await expect(store.append([append])).rejects.toMatchObject({ code: "HF-3024" });
    await set("maxmemory", "0");
    expect(await everythingOf(store, row.id)).toEqual(before);
    await accepted(store, append);
  });
});

onServer("a login", () => {
  it("that is wrong or missing is told apart from a server that is away", async () => {
    const as = (login: string) => openRedisStore({ url: `redis://${login}127.0.0.1:${locked.port}` });
    for (const login of ["", ":wrong@", "nobody:right@"])
      await expect(as(login)).rejects.toMatchObject({ code: "HF-3016" });
    const store = await as(":right@");
    await accepted(store, creation());
    await store.close();
  });

  it("to a server whose certificate nobody vouches for is refused, and nothing is sent", async () => {
    const [key, cert] = ["key.pem", "cert.pem"].map((name) => path.join(server.folder, name)) as [
      string,
      string,
    ];
    const name = ["-subj", "/CN=127.0.0.1", "-days", "1", "-nodes"];
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-keyout", key, "-out", cert, ...name], {
      stdio: "ignore",
    });
    for (const file of [key, cert]) chmodSync(file, 0o644);
    const port = await freePort();
    const settings = ["tls-cert-file", cert, "tls-key-file", key, "tls-auth-clients", "no"];
    await admin.sendCommand(["CONFIG", "SET", ...settings, "tls-port", String(port)]);
    await expect(openRedisStore({ url: `rediss://127.0.0.1:${port}`, prefix: "tls" })).rejects.toMatchObject({
      code: "HF-3016",
    });
    await admin.sendCommand(["CONFIG", "SET", "tls-port", "0"]);
    expect(await admin.keys("{tls*")).toEqual([]);
  });

  it("without the right to write is told so", async () => {
    await admin.sendCommand(
      "ACL SETUSER reader on >word ~* &* +@read +@connection +info +config +eval +evalsha".split(" "),
    );
    const url = server.url.replace("//", "//reader:word@");
    await expect(open({ url })).rejects.toMatchObject({ code: "HF-3004" });
    await admin.sendCommand(["ACL", "DELUSER", "reader"]);
  });
});
