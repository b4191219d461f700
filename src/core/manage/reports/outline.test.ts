import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";

describe("the outline of a run", () => {
  it("tells only the steps that moved after a position, and all of them once a resume has changed many (S1-32)", async () => {
    let isBroken = true;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("load", () => 1);
      await ctx.step("pay", () => {
        if (isBroken) throw Object.assign(new Error("no"), { notDone: true });
      });
      await ctx.step("mail", () => 2);
    });
    const lab = createLab();
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const names = async (since: number): Promise<readonly [number, readonly string[]]> => {
      const outline = await engine.reports.outline("r", { since });
      return [outline.since, outline.steps.map(({ step }) => step)];
    };
    const before = await engine.reports.outline("r");
    expect(await names(0)).toEqual([0, ["load", "pay"]]);
    expect(await names(before.steps[0]?.seq ?? 0)).toEqual([before.steps[0]?.seq, ["pay"]]);
    expect(await names(before.seq)).toEqual([before.seq, []]);
    isBroken = false;
    await lab.drive(engine.resume("r"));
    await lab.drive(engine.settled("r"));
    expect(await names(before.seq)).toEqual([0, ["load", "pay", "mail"]]);
    const after = await engine.reports.outline("r");
    expect(await names(after.seq)).toEqual([after.seq, []]);
  });
});
