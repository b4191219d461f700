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
