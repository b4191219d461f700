import path from "node:path";
import { describe, expect, it } from "vitest";
import { useFolders } from "../../test/support/folders.ts";
import { keyOf, testKeyring } from "../../test/support/sealed.ts";
import type { Entry, Store } from "../core/store/contract.ts";
import { UNREADABLE } from "../core/values/blind.ts";
import { createEngine, workflow } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { openSqliteStore } from "../stores/sqlite/index.ts";
import { accepted, creation, everythingOf, step } from "../testing/conformance/index.ts";
import { localKeyring } from "./keyring.ts";
import { packStore } from "./packed-store.ts";
import { type SealedStore, sealStore } from "./sealed-store.ts";

const seal = (inner: Store, ...keys: string[]): Promise<SealedStore> =>
  sealStore(inner, { keyring: testKeyring(...(keys.length > 0 ? keys : ["k1"])) });

const stored = (head: string, data: string): Partial<Entry> => ({ head, data });

/** A run with `count` entries, each with its own value, and two blobs. */
async function fill(store: Store, id: string, count: number): Promise<void> {
  let row = await accepted(
    store,
    creation({
      run: { id },
      entry: stored(`{"e":0,"of":"${id}"}`, `secret 0 of ${id}`),
      blobs: [
        { hash: `${id}-a`, data: `secret blob a of ${id}` },
        { hash: `${id}-b`, data: `secret blob b of ${id}` },
      ],
    }),
  );
  for (let n = 1; n < count; n++)
    row = await accepted(store, step(row, { entry: stored(`{"e":1,"n":${n}}`, `secret ${n} of ${id}`) }));
}

const values = async (store: Store, id: string): Promise<(string | null)[]> =>
  (await everythingOf(store, id)).entries.map(({ data }) => data);

describe("a sealed store", () => {
  it("gives back what was written, and the store below holds none of it", async () => {
    const inner = createMemoryStore();
    const store = await seal(inner);
    await fill(store, "run-1", 5);
    expect(await values(store, "run-1")).toEqual([0, 1, 2, 3, 4].map((n) => `secret ${n} of run-1`));
    const blobs = await store.blobs("run-1", ["run-1-a", "run-1-b", "none"]);
    expect(blobs.get("run-1-b")).toBe("secret blob b of run-1");
    const below = [await everythingOf(inner, "run-1"), [...(await inner.blobs("run-1", [...blobs.keys()]))]];
    expect(JSON.stringify(below)).toContain("hfs1.");
    expect(JSON.stringify(below)).not.toContain("secret");
  });

  it("opens again with the same key, in another process and after a restore", async () => {
    const inner = createMemoryStore();
    const first = await seal(inner);
    await fill(first, "run-1", 3);
    const again = await seal(inner);
    expect(await values(again, "run-1")).toEqual(await values(first, "run-1"));
    expect(await again.identity()).toEqual(await first.identity());
    expect(again.blinding).toBe(first.blinding);
  });

  it("makes idempotency keys of more than what is stored", async () => {
    const inner = createMemoryStore();
    const [{ secret: below }, { secret }] = [await inner.identity(), await (await seal(inner)).identity()];
    expect(secret).not.toBe(below);
    const other = await (await seal(createMemoryStore())).identity();
    expect(secret).not.toBe(other.secret);
  });

  it("has the same secret for two that open it at the same time", async () => {
    const inner = createMemoryStore();
    const stores = await Promise.all([seal(inner), seal(inner), seal(inner)]);
    expect(new Set(stores.map(({ blinding }) => blinding)).size).toBe(1);
  });

  it("does not open with another key, names no run of its own, and says nothing about keys (R8)", async () => {
    const inner = createMemoryStore();
    await seal(inner, "k1");
    const missing: unknown = await seal(inner, "k2").catch((thrown: unknown) => thrown);
    expect(missing).toMatchObject({ code: "HF-3040", fix: expect.stringContaining("open it again") });
    expect(JSON.stringify(missing) + String(missing)).not.toMatch(/sealed-root|by itself/);
    const wrong = localKeyring(() => new Map([["k1", keyOf("k2")]]));
    const error: unknown = await sealStore(inner, { keyring: wrong }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "HF-3040" });
    for (const key of [keyOf("k1"), keyOf("k2")])
      for (const form of ["hex", "base64", "base64url"] as const)
        expect(JSON.stringify(error) + String(error)).not.toContain(Buffer.from(key).toString(form));
  });

  it("hides the run that holds its secret", async () => {
    const inner = createMemoryStore();
    const store = await seal(inner);
    const { runs } = await inner.list({ limit: 10 });
    const [root] = runs.map(({ id }) => id) as [string];
    expect(runs).toHaveLength(1);
    expect(await store.read(root)).toBeNull();
    expect(await store.entries(root, { from: 1, limit: 5 })).toEqual([]);
    expect(await store.list({ limit: 10 })).toEqual({ runs: [], cursor: null });
    const [taken] = await store.append([creation({ run: { id: root } })]);
    expect(taken).toMatchObject({ ok: false, reason: "exists" });
    for (const id of ["a", "b"]) await accepted(store, creation({ run: { id } }));
    const page = await store.list({ limit: 2 });
    expect([page.runs.length, page.cursor]).toEqual([2, null]);
    const one = await store.list({ limit: 1 });
    const two = await store.list({ limit: 1, cursor: one.cursor as string });
    expect([one.runs.length, two.runs.length, two.cursor]).toEqual([1, 1, null]);
  });
});

describe("records that are not where they were written", () => {
  /** The store below, with the data of entries and blobs changed on reading. */
  const changed = (inner: Store, change: (data: string, all: readonly string[]) => string): Store => ({
    ...inner,
    entries: async (id, range) => {
      const entries = await inner.entries(id, range);
      const all = entries.flatMap(({ data }) => (data === null ? [] : [data]));
      return entries.map((entry) =>
        entry.data === null ? entry : { ...entry, data: change(entry.data, all) },
      );
    },
    blobs: async (id, hashes) => {
      const found = await inner.blobs(id, hashes);
      // Leaves the key's own record unchanged.
      const isKey = [...found.values()].some((data) => data.startsWith('{"format"'));
      if (isKey) return found;
      return new Map(Array.from(found, ([hash, data]) => [hash, change(data, [...found.values()])]));
    },
  });

  it.each([
    [
      "swapped within the run",
      (data: string, all: readonly string[]) => all[(all.indexOf(data) + 1) % all.length],
    ],
    [
      "with one bit changed",
      (data: string) => `${data.slice(0, 99)}${data[99] === "A" ? "B" : "A"}${data.slice(100)}`,
    ],
    ["of an unknown suite", (data: string) => data.replace(/^hfs1\.AQE/, "hfs1.AQI")],
    ["unencrypted", () => "a value of somebody else"],
    ["packed only", () => "hfp1.0.YSB2YWx1ZQ=="],
  ])("are unreadable: %s", async (_, change) => {
    const inner = createMemoryStore();
    await fill(await seal(inner), "run-1", 4);
    const store = await seal(changed(inner, change as (data: string) => string));
    expect(await values(store, "run-1")).toEqual(Array(4).fill(UNREADABLE));
    const blobs = await store.blobs("run-1", ["run-1-a", "run-1-b"]);
    expect([...blobs.values()]).toEqual([UNREADABLE, UNREADABLE]);
  });

  it("are unreadable in another run, also when its key was brought along", async () => {
    const inner = createMemoryStore();
    const store = await seal(inner);
    await fill(store, "run-1", 2);
    await fill(store, "run-2", 2);
    const moved: Store = {
      ...inner,
      entries: (_, range) => inner.entries("run-1", range),
    };
    expect(await values(await seal(moved), "run-2")).toEqual([UNREADABLE, UNREADABLE]);
    const stolen: Store = {
      ...moved,
      blobs: async (id, hashes) =>
        id === "run-2"
          ? new Map([
              [hashes[0] as string, JSON.stringify({ format: 1, suite: 1, kek: "k1", key: "", wrapped: "" })],
            ])
          : inner.blobs(id, hashes),
    };
    await expect(values(await seal(stolen), "run-2")).rejects.toMatchObject({ code: "HF-3032" });
  });

  it("do not hide the good ones beside them", async () => {
    const inner = createMemoryStore();
    await fill(await seal(inner), "run-1", 4);
    const store = await seal(
      changed(inner, (data, all) => (data === all[2] ? `${data.slice(0, -6)}AAAA==` : data)),
    );
    expect((await values(store, "run-1")).map((data) => data === UNREADABLE)).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });
});

describe("a store that holds unencrypted runs", () => {
  it("is not opened unless somebody says so", async () => {
    const inner = createMemoryStore();
    await fill(inner, "old", 2);
    await expect(seal(inner)).rejects.toMatchObject({ code: "HF-3033" });
    expect((await inner.list({ limit: 5 })).runs).toHaveLength(1);
  });

  it("can be moved: old runs are read and go on as they are, new ones are encrypted", async () => {
    const inner = createMemoryStore();
    await fill(packStore(inner, { from: 0 }), "old", 2);
    const options = { keyring: testKeyring("k1"), acceptPlain: true };
    const store = await sealStore(inner, options);
    const row = await accepted(store, creation({ run: { id: "new" } }));
    expect(row.seq).toBe(1);
    const old = await everythingOf(store, "old");
    expect(old.entries.map(({ data }) => data)).toEqual(["secret 0 of old", "secret 1 of old"]);
    await accepted(store, step(old.row as never, { entry: stored('{"e":1}', "more") }));
    expect((await values(inner, "old"))[2]).toBe("more");
    expect((await values(inner, "new"))[0]).toMatch(/^hfs1\./);
    expect(await store.rotate()).toMatchObject({ current: 1, plain: 1, failed: [] });
    const strict = await seal(inner);
    await expect(values(strict, "old")).rejects.toMatchObject({ code: "HF-3031" });
  });

  it("still takes nothing unencrypted for a value of an encrypted run", async () => {
    const inner = createMemoryStore();
    await fill(await seal(inner), "run-1", 2);
    const bare: Store = {
      ...inner,
      entries: async (id, range) =>
        (await inner.entries(id, range)).map((entry) => ({ ...entry, data: "put in its place" })),
    };
    const store = await sealStore(bare, { keyring: testKeyring("k1"), acceptPlain: true });
    expect(await values(store, "run-1")).toEqual([UNREADABLE, UNREADABLE]);
  });
});

describe("the heads of a sealed store's entries", () => {
  it("are read without opening a value, and checked all the same (issue 16)", async () => {
    const memory = createMemoryStore();
    const asked: string[] = [];
    let change = (entry: Entry): Entry => entry;
    const read = async (what: string, ...[id, range]: Parameters<Store["entries"]>) => {
      asked.push(what);
      return (await memory.entries(id, range)).map((entry) => change(entry));
    };
    const inner: Store = {
      ...memory,
      entries: (...range) => read("entries", ...range),
      outlines: async (...range) =>
        (await read("outlines", ...range)).map((one) => ({ ...one, data: one.data === null ? null : "" })),
    };
    const store = await seal(inner);
    const flow = workflow("flow", async (ctx) => {
      for (let n = 0; n < 3; n++) await ctx.step("step", () => `value ${n}`);
    });
    const engine = createEngine({ store, workflows: [flow] });
    await engine.result((await engine.start(flow, undefined, { id: "run-1" })).id);
    await engine.close();
    const all = { from: 1, limit: 100 };
    const entries = await memory.entries("run-1", all);
    const bare = entries.map((one) => ({ ...one, data: one.data === null ? null : "" }));
    asked.length = 0;
    expect(await store.outlines?.("run-1", all)).toEqual(bare);
    expect(asked).toEqual(["outlines"]);
    change = (one) => ({ ...one, head: one.head.replace("run_completed", "run_cancelled") });
    expect((await store.outlines?.("run-1", all))?.map(({ head }) => head)).toContain(UNREADABLE);
    change = (one) => one;
    await store.shred("run-1");
    const gone = await store.outlines?.("run-1", all);
    expect(gone?.map(({ data }) => data)).toEqual(gone?.map(() => null));
  });
});

describe("keys that are not in memory", () => {
  const newFolder = useFolders("sealed");

  it("are fetched for whatever is read or written next", async () => {
    const inner = createMemoryStore();
    const store = await sealStore(inner, { keyring: testKeyring("k1"), keysInMemory: 1 });
    for (const id of ["a", "b", "c"]) await fill(store, id, 2);
    for (const id of ["a", "b", "c"]) expect(await values(store, id)).toHaveLength(2);
    const { row } = await everythingOf(store, "a");
    await accepted(store, step(row as never, { entry: stored('{"e":1}', "more") }));
    expect((await values(store, "a"))[2]).toBe("more");
  });

  it("are fetched for a transaction, which is begun anew", async () => {
    const file = path.join(newFolder(), "runs.db");
    const inner = await openSqliteStore({ file });
    const store = await sealStore(inner, { keyring: testKeyring("k1"), keysInMemory: 1 });
    await fill(store, "a", 1);
    const { row } = await everythingOf(store, "a");
    await fill(store, "b", 1);
    let calls = 0;
    const transact = store.transaction as NonNullable<Store["transaction"]>;
    const { result } = await transact(
      (sql) => {
        calls++;
        sql.run("CREATE TABLE IF NOT EXISTS mine (n INTEGER)");
        sql.run("INSERT INTO mine VALUES (1)");
        return sql.all("SELECT count(*) AS n FROM mine")[0]?.["n"];
      },
      (n) => step(row as never, { entry: stored('{"e":1}', `n = ${String(n)}`) }),
    );
    expect([result.ok, calls]).toEqual([true, 2]);
    expect((await values(store, "a"))[1]).toBe("n = 1");
    await store.close();
  });
});
