import { expect, it } from "vitest";
import { createEngine, workflow } from "../../../index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";

const flow = workflow("flow", async (ctx) => ctx.step("one", () => 1));

it("a run that is deleted while its store is verified isn't called damaged", async () => {
  const store = createMemoryStore();
  const engine = createEngine({ store, workflows: [flow] });
  await (await engine.start(flow, undefined, { id: "r" })).result();
  let isDeleted = false;
  // The list has named it, and its journal is gone when it is read.
  const entries: typeof store.entries = async (...range) => {
    if (!isDeleted) {
      isDeleted = true;
      await engine.delete("r");
    }
    return store.entries(...range);
  };
  const verifier = createEngine({ store: { ...store, entries }, execute: false });
  expect(await verifier.reports.verify()).toMatchObject({ ok: true, damaged: [] });
  expect(isDeleted).toBe(true);
  await engine.close();
});

it("an event with another field than a journal's is damage, not a TypeError, for verify and for whoever continues (D3)", async () => {
  const store = createMemoryStore();
  const waits = workflow("waits", async (ctx) => {
    await ctx.gate("first", { choices: ["go"] });
    await ctx.gate("second", { choices: ["go"] });
  });
  const engine = createEngine({ store, workflows: [waits], holdMs: 0 });
  await engine.start(waits, undefined, { id: "r" });
  await engine.settled("r");
  await engine.answer("r", "first", { choice: "go" });
  await expect.poll(async () => (await engine.gates("r")).map(({ gate }) => gate)).toEqual(["second"]);
  await engine.settled("r");
  await engine.close();
  let changes = 0;
  const changed: typeof store.entries = async (...range) =>
    (await store.entries(...range)).map((entry) => {
      const head = entry.seq < 6 ? entry.head.replace('{"waiting":', '{"wbiting":') : entry.head;
      if (head !== entry.head) changes++;
      return { ...entry, head };
    });
  const later = createEngine({ store: { ...store, entries: changed }, workflows: [waits] });
  const { damaged } = await later.reports.verify();
  expect(damaged).toMatchObject([{ runId: "r" }]);
  expect((await later.checkpoints.validate("r")).ok).toBe(false);
  await expect(
    later.answer("r", "second", { choice: "go" }).then(() => later.result("r")),
  ).rejects.toMatchObject({
    code: "HF-3010",
  });
  expect(changes).toBeGreaterThan(0);
  await later.close();
});
