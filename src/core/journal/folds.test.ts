import { describe, expect, it } from "vitest";
import { createEngine, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import type { Store } from "../store/contract.ts";

const STEPS = 4_500;

const long = workflow("long", async (ctx) => {
  for (let n = 0; n < STEPS; n++) await ctx.step("step", () => `value ${n} ${"x".repeat(100)}`);
  await ctx.gate("ask", { show: "last", choices: ["yes"] });
});

/** A store that can read entries without their data, and counts the characters of values that it returns. */
function weighed(store: Store): { readonly store: Store; read(): number } {
  let length = 0;
  const entries: Store["entries"] = async (runId, range) => {
    const found = await store.entries(runId, range);
    for (const { data } of found) length += data?.length ?? 0;
    return found;
  };
  const outlines: Store["outlines"] = async (runId, range) =>
    (await store.entries(runId, range)).map((one) => ({ ...one, data: one.data === null ? null : "" }));
  const read = (): number => {
    const before = length;
    length = 0;
    return before;
  };
  return { store: { ...store, entries, outlines }, read };
}

describe("the first look of a process at a long run without loops", () => {
  it("leaves the results of its finished steps in the store (E10)", async () => {
    const memory = createMemoryStore();
    const engine = createEngine({ store: memory, workflows: [long] });
    await engine.start(long, undefined, { id: "long" });
    await engine.settled("long");
    await engine.close();
    const { store, read } = weighed(memory);
    const looks: ((desk: ReturnType<typeof createEngine>) => Promise<unknown>)[] = [
      async (desk) => expect((await desk.status("long")).open).toMatchObject([{ step: "ask" }]),
      async (desk) => expect(await desk.gates("long")).toMatchObject([{ gate: "ask", show: "last" }]),
      (desk) => desk.signal("long", "news", 1, { id: "s-1" }),
      (desk) => desk.inject("long", "hint", { id: "i-1" }),
      (desk) => desk.pause("long", { id: "p-1" }),
    ];
    for (const look of looks) {
      await look(createEngine({ store, execute: false }));
      // All values together have twice this length.
      expect(read()).toBeLessThan((STEPS * 100) / 2);
    }
  });
});
