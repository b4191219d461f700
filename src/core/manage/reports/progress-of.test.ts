import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";
import { createFaultyStore } from "../../../testing/faulty-store.ts";

const planned = workflow("planned", async (ctx) => {
  ctx.plan(["load", "match", "ask", "pay"]);
  await ctx.step("load", () => 1);
  await ctx.each("match", [1, 2, 3], (n) => n);
  await ctx.gate("ask", { choices: ["yes"] });
  await ctx.step("pay", () => 1);
});
const plain = workflow("plain", (ctx) => ctx.step("only", () => 1));

describe("the progress of runs", () => {
  it("is n of m as their plans say, and what was read before isn't read again (S1-32)", async () => {
    const store = createFaultyStore(createMemoryStore(), {});
    const lab = createLab(store);
    const engine = lab.engine([planned, plain]);
    await lab.drive(engine.start(planned, undefined, { id: "a" }));
    await lab.drive(engine.settled("a"));
    await lab.drive(engine.start(plain, undefined, { id: "b" }));
    await lab.drive(engine.settled("b"));
    const [a, b] = await engine.reports.progress(["a", "b", "none"]);
    expect(a).toMatchObject({ run: "a", done: 4, total: 6, text: "4 of 6" });
    expect(b).toMatchObject({ run: "b", done: 1, text: "1 done" });
    const before = store.calls.entries;
    expect(await engine.reports.progress(["a", "b"])).toEqual([a, b]);
    const tails = store.calls.entries - before;
    await lab.drive(engine.answer("a", "ask", { choice: "yes" }));
    await lab.drive(engine.result("a"));
    expect(await engine.reports.progress(["a"])).toMatchObject([{ done: 6, total: 6 }]);
    expect(tails).toBeLessThanOrEqual(2);
    expect(await engine.reports.progress(["a", "b"], ({ id }) => id === "b")).toHaveLength(1);
    await expect(engine.reports.progress(Array.from({ length: 101 }, () => "a"))).rejects.toMatchObject({
      code: "HF-1003",
    });
  });

  it("counts a group's members only while they are left, and never claims to know the steps after it", async () => {
    let end = (): void => undefined;
    const held = new Promise<void>((resolve) => (end = resolve));
    const grouped = workflow("grouped", async (ctx) => {
      await ctx.step("load", () => 1);
      await ctx.each("match", [1, 2, 3], async (n) => {
        if (n === 3) await held;
      });
      await ctx.gate("ask", { choices: ["yes"] });
      await ctx.step("pay", () => 1);
    });
    const lab = createLab();
    const engine = lab.engine([grouped]);
    await lab.drive(engine.start(grouped, undefined, { id: "g" }));
    await lab.clock.advance(100);
    expect(await engine.reports.progress(["g"])).toMatchObject([{ done: 3, total: 4, text: "3 of 4" }]);
    end();
    await lab.drive(engine.settled("g"));
    const [atGate] = await engine.reports.progress(["g"]);
    expect(atGate).toMatchObject({ done: 4, text: "4 done" });
    expect(atGate).not.toHaveProperty("total");
    await lab.drive(engine.answer("g", "ask", { choice: "yes" }));
    await lab.drive(engine.result("g"));
    expect(await engine.reports.progress(["g"])).toMatchObject([{ done: 6, text: "6 done" }]);
  });

  it("is that of the run that is there now, not of one that was deleted under the same id", async () => {
    const flow = workflow("flow", async (ctx, steps: number) => {
      for (let n = 0; n < steps; n++) await ctx.step(`step-${n}`, () => n);
      await ctx.gate("ask", { choices: ["yes"] });
    });
    const lab = createLab();
    const engine = lab.engine([flow]);
    for (const steps of [1, 4]) {
      await lab.drive(engine.start(flow, steps, { id: "r" }));
      await lab.drive(engine.settled("r"));
      expect(await engine.reports.progress(["r"])).toMatchObject([{ done: steps }]);
      await lab.drive(engine.cancel("r"));
      await lab.drive(engine.delete("r"));
    }
  });
});
