import { describe, expect, it } from "vitest";
import { eventsOf } from "../../../../test/support/family.ts";
import { createLab } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";

describe("the plan of a fork", () => {
  /** A source that has paid, and a fork of it from before that. */
  async function forked(effects: "reuse" | "simulate" | "block" | "allow", simulate?: () => number) {
    const lab = createLab();
    let amount = 5;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("a", () => 1);
      const options = simulate ? { simulate } : {};
      const paid = await ctx.step("pay", () => amount, { effect: "keyed", input: amount, ...options });
      await ctx.step("thank", () => paid, { effect: "once" });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    const first = (await eventsOf(lab.store, "r")).find(({ kind }) => kind === "step_completed");
    await lab.crash(engine);
    const looking = lab.engine([flow], { execute: false });
    await lab.drive(looking.fork(`r@${first?.seq}`, { id: "f", effects }));
    const steps = async () =>
      (await lab.drive(looking.plan("f"))).runs.map(({ step, instead }) => [step, instead]);
    return { lab, flow, looking, steps, change: () => (amount = 6) };
  }

  it("shows every call that something recorded stands in for, and what comes behind them", async () => {
    expect(await (await forked("reuse")).steps()).toEqual([
      ["pay", "reused"],
      ["thank", "reused"],
    ]);
    expect(await (await forked("simulate")).steps()).toEqual([
      ["pay", "simulated"],
      ["thank", "simulated"],
    ]);
    expect(await (await forked("block")).steps()).toEqual([["pay", "asked"]]);
    expect(await (await forked("allow")).steps()).toEqual([["pay", undefined]]);
  });

  it("asks where arguments differ, unless a hook simulates the call, which is not called for the plan", async () => {
    const reuse = await forked("reuse");
    reuse.change();
    expect(await reuse.steps()).toEqual([["pay", "asked"]]);
    let calls = 0;
    const simulate = await forked("simulate", () => ++calls);
    simulate.change();
    expect(await simulate.steps()).toEqual([["pay", "simulated"]]);
    expect(calls).toBe(0);
  });

  it("knows what somebody has answered: the call is made, or taken over", async () => {
    for (const [choice, expected] of [
      ["call", [["pay", undefined]]],
      [
        "reuse",
        [
          ["pay", "reused"],
          ["thank", "asked"],
        ],
      ],
    ] as const) {
      const { lab, flow, looking, steps } = await forked("block");
      const engine = lab.engine([flow]);
      await lab.drive(engine.recover());
      await lab.drive(engine.settled("f"));
      await lab.crash(engine);
      await lab.drive(looking.answer("f", "approve:pay#fork", { choice }));
      await lab.clock.advance(20_000);
      expect(await steps()).toEqual(expected);
    }
  });
});
