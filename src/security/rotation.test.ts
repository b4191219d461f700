import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { useFolders } from "../../test/support/folders.ts";
import { createLab } from "../../test/support/lab.ts";
import { testKeyring } from "../../test/support/sealed.ts";
import type { Store } from "../core/store/contract.ts";
import { createEngine, HoldfastError, workflow } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { openSqliteStore } from "../stores/sqlite/index.ts";
import { accepted, creation, everythingOf } from "../testing/conformance/index.ts";
import { sealStore } from "./sealed-store.ts";

const IDS = ["a", "b", "c", "d", "e"];
const valueOf = async (store: Store, id: string) => (await everythingOf(store, id)).entries[0]?.data;

async function filled(inner: Store = createMemoryStore()): Promise<Store> {
  const store = await sealStore(inner, { keyring: testKeyring("k1") });
  for (const id of IDS)
    await accepted(
      store,
      creation({ run: { id }, entry: { head: `{"v":[],"of":"${id}"}`, data: `secret of ${id}` } }),
    );
  return inner;
}

const readable = async (inner: Store, ...keys: string[]): Promise<string[]> => {
  const store = await sealStore(inner, { keyring: testKeyring(...keys) });
  const answers = IDS.map((id) =>
    valueOf(store, id).then((data) => (data === `secret of ${id}` ? [id] : [])),
  );
  const settled = await Promise.allSettled(answers);
  return settled.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
};

describe("a rotation", () => {
  it("wraps every key anew, so that the old key is needed no more", async () => {
    const inner = await filled();
    const store = await sealStore(inner, { keyring: testKeyring("k2", "k1") });
    const report = await store.rotate({ actor: "ops" });
    expect(report).toEqual({
      kek: "k2",
      rewrapped: 5,
      current: 0,
      plain: 0,
      shredded: 0,
      failed: [],
      complete: true,
    });
    expect(await readable(inner, "k2")).toEqual(IDS);
    await expect(readable(inner, "k1")).rejects.toMatchObject({ code: "HF-3040" });
    const { entries } = await everythingOf(store, "a");
    expect(JSON.parse(entries[1]?.head ?? "")).toMatchObject({
      a: "ops",
      v: [["key_wrapped", "", { kek: "k2" }, 0]],
    });
  });

  it("changes no value, and nothing when it is done again", async () => {
    const inner = await filled();
    const before = (await inner.entries("a", { from: 1, limit: 1 }))[0];
    const store = await sealStore(inner, { keyring: testKeyring("k2", "k1") });
    await store.rotate();
    expect((await inner.entries("a", { from: 1, limit: 1 }))[0]).toEqual(before);
    expect(await store.rotate()).toMatchObject({ rewrapped: 0, current: 5, complete: true });
    expect((await inner.read("a"))?.seq).toBe(2);
  });

  it("can be broken off at every write: each run opens with the keys that are in use, and it goes on from there", async () => {
    for (let stop = 1; stop <= 6; stop++) {
      const inner = await filled();
      let writes = 0;
      const failing: Store = {
        ...inner,
        async append(batch) {
          if (++writes === stop) throw new Error("the process is gone");
          return inner.append(batch);
        },
      };
      const store = await sealStore(failing, { keyring: testKeyring("k2", "k1") });
      await expect(store.rotate()).rejects.toThrow("the process is gone");
      expect(await readable(inner, "k2", "k1"), `stopped at ${stop}`).toEqual(IDS);
      expect(await store.rotate()).toMatchObject({ rewrapped: 6 - stop, current: stop - 1, complete: true });
      expect(await readable(inner, "k2")).toEqual(IDS);
    }
  });

  it("finds what a write that was not answered has done", async () => {
    const inner = await filled();
    let writes = 0;
    const silent: Store = {
      ...inner,
      async append(batch) {
        const results = await inner.append(batch);
        if (++writes === 3) throw new Error("no answer");
        return results;
      },
    };
    const store = await sealStore(silent, { keyring: testKeyring("k2", "k1") });
    await expect(store.rotate()).rejects.toThrow("no answer");
    expect(await store.rotate()).toMatchObject({ rewrapped: 2, current: 3, complete: true });
  });

  it("leaves out a run whose key it does not have, and says so", async () => {
    const inner = await filled();
    const store = await sealStore(inner, { keyring: testKeyring("k2", "k1") });
    await store.rotate();
    const other = await sealStore(inner, { keyring: testKeyring("k3", "k2") });
    await accepted(other, creation({ run: { id: "f" }, entry: { data: "secret of f" } }));
    const report = await (await sealStore(inner, { keyring: testKeyring("k4", "k2") })).rotate();
    expect(report).toMatchObject({ rewrapped: 5, complete: false, failed: [{ runId: "f" }] });
    expect(report.failed[0]?.why).toContain("none of the configured keys (k4, k2) can unwrap its data key");
  });

  it("can be told to stop", async () => {
    const store = await sealStore(await filled(), { keyring: testKeyring("k2", "k1") });
    const report = await store.rotate({ signal: AbortSignal.abort() });
    expect(report).toMatchObject({ rewrapped: 0, complete: false });
  });

  it("goes on beside running runs, none of which is disturbed", async () => {
    const keyring = testKeyring("k1");
    const store = await sealStore(createMemoryStore(), { keyring });
    const busy = workflow("busy", async (ctx, n: number) => {
      let sum = 0;
      for (let turn = 0; turn < 30; turn++) sum += await ctx.step("add", () => n);
      return sum;
    });
    const engine = createEngine({ store, workflows: [busy] });
    const runs = await Promise.all(
      Array.from({ length: 20 }, (_, n) => engine.start(busy, n, { id: `run-${n}` })),
    );
    keyring.names.unshift("k2");
    const reports = [await store.rotate(), await store.rotate()];
    const results = await Promise.all(runs.map(({ id }) => engine.result(id)));
    expect(results).toEqual(runs.map((_, n) => 30 * n));
    expect(reports.map(({ failed }) => failed)).toEqual([[], []]);
    await store.rotate();
    keyring.names.splice(1);
    for (const { id } of runs) expect(await engine.checkpoints.validate(id)).toMatchObject({ ok: true });
    await engine.close();
  });
});

describe("a shredded run", () => {
  const newFolder = useFolders("shred");
  const talk = workflow("talk", async (ctx, about: string) => {
    await ctx.step("think", () => `what I think of ${about}`);
    return `${about}, at length. `.repeat(900);
  });

  it("is unreadable for everyone, and its record still says what happened", async () => {
    const file = path.join(newFolder(), "runs.db");
    const store = await sealStore(await openSqliteStore({ file }), { keyring: testKeyring("k1") });
    const engine = createEngine({ store, workflows: [talk] });
    const run = await engine.start(talk, "canary-7f3a", { id: "run-1" });
    expect(await engine.result(run.id)).toContain("canary-7f3a");
    await store.shred("run-1", { actor: "dpo", reason: "asked for by the customer" });
    await expect(engine.result("run-1")).rejects.toMatchObject({ code: "HF-1023" });
    const { run: row, headline } = await engine.status("run-1");
    expect([row.status, row.prunedAt === null, headline]).toEqual([
      "completed",
      false,
      "completed; its values are dropped",
    ]);
    const { entries } = await everythingOf(store, "run-1");
    expect(entries.map(({ data }) => data)).toEqual(entries.map(() => null));
    expect(entries.at(-1)?.head).toContain("asked for by the customer");
    expect(await engine.checkpoints.validate("run-1")).toMatchObject({ problems: [] });
    await store.shred("run-1");
    expect((await engine.get("run-1"))?.seq).toBe(row.seq);
    await engine.close();
    await store.close();
    expect(readFileSync(file, "latin1")).not.toContain("canary-7f3a");
    const again = await sealStore(await openSqliteStore({ file }), { keyring: testKeyring("k1") });
    expect((await everythingOf(again, "run-1")).entries.every(({ data }) => data === null)).toBe(true);
    await again.close();
  });

  it("must have ended", async () => {
    const store = await sealStore(createMemoryStore(), { keyring: testKeyring("k1") });
    await accepted(store, creation({ run: { id: "a", status: "running" } }));
    const error: unknown = await store.shred("a").catch((thrown: unknown) => thrown);
    expect(HoldfastError.is(error, "HF-1007")).toBe(true);
    await expect(store.shred("none")).rejects.toMatchObject({ code: "HF-1001" });
  });

  it("is shredded by retention too, when the last of its values go", async () => {
    const lab = createLab();
    const store = await sealStore(lab.store, { keyring: testKeyring("k1") });
    const engine = lab.engine([talk], { store });
    await lab.drive(engine.start(talk, "Ada", { id: "run-1" }));
    await lab.drive(engine.result("run-1"));
    await lab.drive(engine.close());
    await lab.clock.advance(2 * 86_400_000);
    const later = lab.engine([], { store, execute: false });
    await lab.drive(later.retention.prune({ maxAge: "1d" }));
    expect((await later.get("run-1"))?.prunedAt).not.toBeNull();
    const fresh = await sealStore(lab.store, { keyring: testKeyring("k2", "k1") });
    expect(await fresh.rotate()).toMatchObject({ rewrapped: 0, shredded: 1, complete: true });
  });
});
