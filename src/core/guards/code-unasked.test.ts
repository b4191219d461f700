import { describe, expect, it } from "vitest";
import { eventsOf } from "../../../test/support/family.ts";
import { createLab } from "../../../test/support/lab.ts";
import { type Context, workflow } from "../../index.ts";

/** Runs up to a gate, is stopped there, and goes on in a new engine; what the end says. */
async function resumed(body: (ctx: Context, time: number) => Promise<unknown>) {
  const lab = createLab();
  let time = 0;
  const warnings: unknown[] = [];
  const logger = { warn: (text: string) => void warnings.push(text), error() {}, info() {}, debug() {} };
  const flow = workflow("flow", (ctx) => body(ctx, ++time));
  const first = lab.engine([flow]);
  await lab.drive(first.start(flow, undefined, { id: "r" }));
  await lab.drive(first.settled("r"));
  await lab.drive(first.close());
  const second = lab.engine([flow], { logger });
  await lab.drive(second.answer("r", "ok", { choice: "yes" }));
  expect(await lab.drive(second.settled("r"))).toMatchObject({ status: "completed" });
  const { meta } = (await eventsOf(lab.store, "r")).find(({ kind }) => kind === "run_completed") ?? {};
  return { meta, warnings };
}

const ask = (ctx: Context) => ctx.gate("ok", { choices: ["yes"] });

describe("a run that has gone on (C13)", () => {
  it("says which finished steps its code has not asked for again", async () => {
    const { meta, warnings } = await resumed(async (ctx, time) => {
      await ctx.step(`x${time}`, () => 1);
      await ctx.step(time === 1 ? "load" : "fetch", () => 1);
      await ctx.loop(`turns${time}`, { n: 0 }, (_, { done }) => done());
      await ctx.each(`item${time}`, [1, 2], () => 1);
      await ctx.step("same", async () => {
        await ctx.step(`inner${time}`, () => 1);
      });
      await ask(ctx);
    });
    expect(meta).toEqual({ unasked: ["turns1", "x1", "load", "item1[0]", "item1[1]"] });
    expect(warnings).toEqual([
      "The names of steps vary: turns1 is now turns2, x1 is now x2, item1[0] is now item2[0], item1[1] is now item2[1].",
      "The code didn't ask again for these finished steps: load.",
    ]);
  });

  it("says nothing where every name is the same", async () => {
    const { meta, warnings } = await resumed(async (ctx) => {
      await ctx.step("a", () => 1);
      await ctx.step("a", () => ctx.step("b", () => 1));
      await ctx.loop("turns", { n: 0 }, async (_, { index, done }) => {
        await ctx.step("c", () => 1);
        return index === 1 ? done() : undefined;
      });
      const list = ctx.each("item", [1, 2, 3], (item) => (item === 2 ? Promise.reject(new Error()) : item), {
        failure: "continue",
        retry: { attempts: 1 },
      });
      await list;
      await Promise.race([ctx.sleep("limit", 3_600_000), ctx.step("d", () => 1)]);
      await ask(ctx);
      await ctx.step("e", () => 1);
    });
    expect([meta, warnings]).toEqual([{}, []]);
  });
});
