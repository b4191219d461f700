import { describe, expect, it } from "vitest";
import { createLab, hangs } from "../../../../test/support/lab.ts";
import { codeOf, rowOf, run, verify } from "../../../../test/support/retention.ts";
import { testKeyring } from "../../../../test/support/sealed.ts";
import { HoldfastError, workflow } from "../../../index.ts";
import type { Tombstone } from "../../../manage.ts";
import { sealStore } from "../../../security/index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";
import type { Store } from "../../store/contract.ts";
import { DELETED_RUNS } from "../../store/deleted.ts";

const LONG = "x".repeat(20_000);
const greet = workflow("greet", (ctx, name: string) => ctx.step("say", () => `Hello ${name} ${LONG}`));
const stuck = workflow("stuck", (ctx) => ctx.step("wait", hangs));
const asks = workflow("asks", async (ctx) => {
  await ctx.step("before", () => 1);
  return (await ctx.gate("ok", { choices: ["yes"] })).choice;
});
const child = workflow("child", (ctx) => ctx.step("work", () => 1));
const family = workflow("family", async (ctx) => {
  await ctx.child("one", child, undefined);
  await ctx.child("two", child, undefined);
  return (await ctx.gate("ok", { choices: ["yes"] })).choice;
});

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("deleting a run (S1-49)", () => {
  it("leaves nothing of it, and its id can be used again", async () => {
    for (const store of [
      createMemoryStore(),
      await sealStore(createMemoryStore(), { keyring: testKeyring("k") }),
    ]) {
      const lab = createLab(store);
      const engine = lab.engine([greet]);
      await run(lab, engine, greet, "a", "Ada");
      expect(await lab.drive(engine.delete("a"))).toEqual({ deleted: ["a"] });
      expect(await lab.drive(engine.get("a"))).toBeNull();
      expect((await lab.drive(engine.list())).runs).toEqual([]);
      expect(await store.entries("a", { from: 1, limit: 10 })).toEqual([]);
      expect(await codeOf(lab.drive(engine.result("a")))).toBe("HF-1001");
      expect(await codeOf(lab.drive(engine.delete("a")))).toBe("HF-1001");
      await run(lab, engine, greet, "a", "Ben");
      expect(await lab.drive(engine.result("a"))).toContain("Ben");
      await lab.drive(engine.close());
    }
  });

  it("is on record with a tombstone, and without one only as a mark that says nothing", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    for (const id of ["a", "secret"]) await run(lab, engine, greet, id, id);
    await lab.drive(engine.delete("a", { actor: "ops", reason: "asked to" }));
    await lab.drive(engine.delete("secret", { tombstone: false }));
    const said: Tombstone[] = await lab.drive(collected(engine.retention.deleted()));
    expect(said).toMatchObject([
      { id: "a", workflow: "greet", status: "completed", actor: "ops", reason: "asked to" },
    ]);
    const heads = (await lab.store.entries(DELETED_RUNS, { from: 1, limit: 10 })).map(({ head }) => head);
    expect(heads.join("\n")).not.toContain("secret");
    await verify(lab.store, DELETED_RUNS);
    expect((await lab.drive(engine.list())).runs).toEqual([]);
    expect(await codeOf(lab.drive(engine.start(greet, "x", { id: DELETED_RUNS })))).toBe("HF-1004");
    expect(await codeOf(lab.drive(engine.delete(DELETED_RUNS)))).toBe("HF-3082");
  });

  it("refuses an unfinished run unless it is forced, and then stops it first", async () => {
    const lab = createLab();
    const engine = lab.engine([stuck, asks]);
    await lab.drive(engine.start(stuck, undefined, { id: "busy" }));
    await run(lab, engine, asks, "asks");
    for (const id of ["busy", "asks"]) {
      expect(await codeOf(lab.drive(engine.delete(id)))).toBe("HF-3080");
      expect(await lab.drive(engine.get(id))).not.toBeNull();
      expect(await lab.drive(engine.delete(id, { force: true }))).toEqual({ deleted: [id] });
      expect(await lab.drive(engine.get(id))).toBeNull();
    }
    await lab.clock.advance(60_000);
    expect((await lab.drive(engine.list())).runs).toEqual([]);
    await lab.crash(engine);
  });

  it("takes the runs below with it, and refuses one that its parent still needs", async () => {
    const lab = createLab();
    const engine = lab.engine([family, child]);
    await run(lab, engine, family, "top");
    const below = (await lab.drive(engine.list({ parent: "top" }))).runs.map(({ id }) => id);
    expect(below).toHaveLength(2);
    expect(await codeOf(lab.drive(engine.delete(below[0] ?? "")))).toBe("HF-3082");
    await lab.drive(engine.answer("top", "ok", { choice: "yes" }));
    await lab.drive(engine.settled("top"));
    const { deleted } = await lab.drive(engine.delete("top"));
    expect(deleted.at(-1)).toBe("top");
    expect(deleted.toSorted()).toEqual([...below, "top"].toSorted());
    expect((await lab.drive(engine.list())).runs).toEqual([]);
  });

  it("refuses a pinned run, and one that an unfinished fork needs, with a sentence", async () => {
    const lab = createLab();
    const engine = lab.engine([greet, asks]);
    await run(lab, engine, greet, "a", "Ada");
    await lab.drive(engine.retention.pin("a"));
    const error = await lab.drive(engine.delete("a", { force: true })).catch((thrown: unknown) => thrown);
    expect(HoldfastError.is(error, "HF-3081") && error.message).toContain("Run a is pinned");
    await lab.drive(engine.retention.unpin("a"));
    await run(lab, engine, asks, "source");
    const [first] = await lab.drive(engine.checkpoints.list("source"));
    await lab.drive(engine.cancel("source"));
    const fork = await lab.drive(engine.fork(first?.id ?? "", { id: "fork" }));
    expect(await codeOf(lab.drive(engine.delete("source")))).toBe("HF-3082");
    await lab.drive(engine.cancel(fork.id));
    await lab.drive(engine.delete("source"));
    expect(await lab.drive(engine.get("source"))).toBeNull();
  });

  it("also deletes a damaged run that can't be cancelled any more, if it is told to", async () => {
    const lab = createLab();
    const engine = lab.engine([asks]);
    await run(lab, engine, asks, "a");
    await lab.drive(engine.close());
    const entries: Store["entries"] = async (...asked) =>
      (await lab.store.entries(...asked)).map((entry) => ({ ...entry, head: `${entry.head} ` }));
    const broken = createLab({ ...lab.store, entries });
    const again = broken.engine([], { execute: false });
    expect(await codeOf(broken.drive(again.cancel("a")))).toBe("HF-3010");
    expect(await codeOf(broken.drive(again.delete("a")))).toBe("HF-3080");
    expect(await broken.drive(again.delete("a", { force: true, reason: "beyond repair" }))).toEqual({
      deleted: ["a"],
    });
    expect(await lab.store.read("a")).toBeNull();
    await broken.drive(again.close());
  });

  it("is not mistaken for a store that went back in time, by any process", async () => {
    const lab = createLab();
    const watching = lab.engine([], { execute: false });
    const engine = lab.engine([stuck, greet]);
    await lab.drive(engine.start(stuck, undefined, { id: "a" }));
    expect(await lab.drive(watching.get("a"))).toMatchObject({ status: "running" });
    await lab.drive(engine.delete("a", { force: true, tombstone: false }));
    expect(await lab.drive(watching.get("a"))).toBeNull();
    await run(lab, engine, greet, "a", "Ada");
    expect(await lab.drive(watching.get("a"))).toMatchObject({ workflow: "greet" });
    expect(watching.health().store.state).toBe("ok");
    await lab.crash(engine);
  });

  it("still notices a store that lost a run nobody deleted", async () => {
    const lab = createLab();
    const engine = lab.engine([asks]);
    await run(lab, engine, asks, "a");
    const { claim, seq, head: _, ...rest } = await rowOf(lab.store, "a");
    const expected = { seq, epoch: claim.epoch, token: null };
    const erase = { run: rest, expect: expected, claim: { kind: "erase" } as const };
    await lab.store.append([{ ...erase, entries: [], head: "", blobs: [] }]);
    expect(await codeOf(lab.drive(engine.get("a")))).toBe("HF-3020");
  });
});
