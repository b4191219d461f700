import { describe, expect, it, vi } from "vitest";
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

  it("is read on from where it was, in pages and when the run has moved (S1-32)", async () => {
    const flow = workflow("flow", async (ctx) => {
      for (let n = 0; n < 5; n++) await ctx.step(`step-${n}`, () => n);
      await ctx.gate("approve", { choices: ["yes"] });
      await ctx.step("last", () => 1);
    });
    const lab = createLab();
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const entries = vi.spyOn(lab.store, "entries");
    const fresh = () => lab.engine([], { execute: false }).reports.outline("r");
    const first = await engine.reports.outline("r", { limit: 3 });
    const second = await engine.reports.outline("r", { from: 3, limit: 3 });
    expect([...first.steps, ...second.steps]).toEqual((await fresh()).steps);
    await lab.drive(engine.answer("r", "approve", { choice: "yes" }));
    await lab.drive(engine.settled("r"));
    entries.mockClear();
    const moved = await engine.reports.outline("r");
    expect(entries.mock.calls.map(([run, { from }]) => [run, from])).toEqual([["r", first.seq]]);
    expect(moved).toEqual(await fresh());
    expect(first.seq).toBeLessThan(moved.seq);
  });

  it("belongs to the run that is there now, not to one that was deleted under the same id", async () => {
    const flow = workflow("flow", async (ctx, name: string) => ctx.step(name, () => 1));
    const lab = createLab();
    const engine = lab.engine([flow]);
    for (const name of ["before", "after"]) {
      await lab.drive(engine.start(flow, name, { id: "r" }));
      await lab.drive(engine.settled("r"));
      expect((await engine.reports.outline("r")).steps.map(({ step }) => step)).toEqual([name]);
      await lab.drive(engine.delete("r"));
    }
  });

  it("says what going on has saved", async () => {
    let isBroken = true;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("ask", () => ctx.usage({ tokens: 7, costUsd: 0.5 }));
      await ctx.step("pay", () => {
        if (isBroken) throw Object.assign(new Error("no"), { notDone: true });
      });
    });
    const lab = createLab();
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    expect((await engine.reports.outline("r")).saved).toMatchObject({ steps: 0, tokens: 0 });
    isBroken = false;
    await lab.drive(engine.resume("r"));
    await lab.drive(engine.settled("r"));
    const { saved } = await engine.reports.outline("r");
    expect(saved).toMatchObject({ steps: 1, tokens: 7, costUsd: 0.5 });
    expect(saved).toEqual((await engine.reports.costs({ run: "r" })).total.saved);
  });
});
