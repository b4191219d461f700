import { describe, expect, it } from "vitest";
import { createEngine, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import type { Store } from "../store/contract.ts";

const STEPS = 4_500;

const long = workflow("long", async (ctx, steps: number) => {
  for (let n = 0; n < steps; n++) await ctx.step("step", () => `value ${n} ${"x".repeat(100)}`);
  await ctx.gate("ask", { show: "last", choices: ["yes"] });
});

const both = workflow("both", (ctx) =>
  ctx.all("part", {
    early: () => ctx.gate("ask", { show: "first", choices: ["yes", "no"] }),
    work: async () => {
      for (let n = 0; n < STEPS; n++) await ctx.step("step", () => n);
      await ctx.sleep("rest", 86_400_000);
    },
    failing: () =>
      ctx.step("fails", () => Promise.reject(new Error("no")), { retry: { attempts: 1 } }).catch(() => null),
  }),
);

/** A store that can read entries without their data, and counts the entries and the characters of values that it returns. */
function weighed(store: Store): { readonly store: Store; read(): { count: number; length: number } } {
  let [count, length] = [0, 0];
  const entries: Store["entries"] = async (runId, range) => {
    const found = await store.entries(runId, range);
    count += found.length;
    for (const { data } of found) length += data?.length ?? 0;
    return found;
  };
  const outlines: Store["outlines"] = async (runId, range) => {
    const found = await store.entries(runId, range);
    count += found.length;
    return found.map((one) => ({ ...one, data: one.data === null ? null : "" }));
  };
  const read = (): { count: number; length: number } => {
    const before = { count, length };
    [count, length] = [0, 0];
    return before;
  };
  return { store: { ...store, entries, outlines }, read };
}

describe("the first look of a process at a long run without loops", () => {
  it("reads what its newest summary doesn't say, however long the run is (E10)", async () => {
    const memory = createMemoryStore();
    const engine = createEngine({ store: memory, workflows: [long] });
    await engine.start(long, STEPS, { id: "long" });
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
      const { count, length } = read();
      // The run has 4,500 entries; 500 of them lie between two summaries.
      expect(count).toBeLessThan(1_500);
      expect(length).toBeLessThan((STEPS * 100) / 4);
    }
  });

  it("finds the same open steps, messages and acts as a look at the whole (E10)", async () => {
    const memory = createMemoryStore();
    const engine = createEngine({ store: memory, workflows: [both] });
    await engine.start(both, undefined, { id: "both" });
    await engine.signal("both", "news", { text: "x".repeat(300) }, { id: "s-1" });
    await engine.settled("both");
    const open = (await engine.status("both")).open.map(({ step, status }) => ({ step, status }));
    expect(open.map(({ step }) => step)).toEqual([
      "part[early]",
      "part[work]",
      "part[early]/ask",
      "part[work]/rest",
    ]);
    await engine.close();
    const desk = () => createEngine({ store: memory, execute: false });
    expect((await desk().status("both")).open.map(({ step, status }) => ({ step, status }))).toEqual(open);
    expect(await desk().gates("both")).toMatchObject([{ gate: "part[early]/ask", show: "first" }]);
    const before = (await memory.read("both"))?.seq;
    await desk().signal("both", "news", { text: "x".repeat(300) }, { id: "s-1" });
    expect((await memory.read("both"))?.seq).toBe(before);
    await expect(desk().signal("both", "news", "another", { id: "s-1" })).rejects.toMatchObject({
      code: "HF-1020",
    });
    await desk().pause("both", { id: "p-1" });
    await desk().resume("both", { id: "r-1" });
    // Sent again: the run has been resumed since, and stays so.
    await desk().pause("both", { id: "p-1" });
    expect((await memory.read("both"))?.status).not.toBe("paused");
    const heads = (await memory.entries("both", { from: 1, limit: 20_000 })).map(({ head }) => head);
    expect(heads.filter((head) => head.includes('"summary_taken"')).length).toBeGreaterThan(2);
  });
});
