import { describe, expect, it } from "vitest";
import { createLab, signalled } from "../../../test/support/lab.ts";
import { type EngineEvent, workflow } from "../../index.ts";
import { parseEntry } from "../journal/journal.ts";
import { heapPressure, Pressure } from "./pressure.ts";

describe("pressure", () => {
  it("is measured as a share of the heap", () => {
    expect(heapPressure()).toBeGreaterThan(0);
    expect(heapPressure()).toBeLessThan(1);
  });

  it("counts as high until it has fallen well below the limit", () => {
    let share = 0.5;
    const pressure = new Pressure(0.8, () => share);
    const looks = [0.5, 0.79, 0.8, 0.85, 0.75, 0.73, 0.71, 0.79].map((one) => {
      share = one;
      return [pressure.look(), pressure.isHigh];
    });
    expect(looks).toEqual([
      [undefined, false],
      [undefined, false],
      [0.8, true],
      [undefined, true],
      [undefined, true],
      [undefined, true],
      [0.71, false],
      [undefined, false],
    ]);
    expect(new Pressure(null, () => 1).look()).toBeUndefined();
  });
});

describe("an engine that is short of memory", () => {
  it("takes no more runs until it is better, and makes those under way cheap to take up again", async () => {
    const lab = createLab();
    let used = 0.1;
    const resume = signalled();
    const flow = workflow("flow", (ctx) =>
      ctx.loop("turn", { n: 0 }, async (state, turn) => {
        await ctx.step("s", () => (turn.index === 2 ? resume.promise : undefined));
        state.n++;
        return turn.index === 4 ? turn.done() : undefined;
      }),
    );
    const engine = lab.engine([flow], { pressure: () => used });
    const told: EngineEvent[] = [];
    engine.on("memory_pressure", (event) => told.push(event));
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    used = 0.9;
    await lab.clock.advance(10_000);
    expect(told).toMatchObject([{ used: 0.9, high: true }]);
    const events = async (runId: string) =>
      (await lab.store.entries(runId, { from: 1, limit: 1_000 })).flatMap(
        (entry) => parseEntry(runId, entry).events,
      );
    expect((await events("r")).slice(-2)).toMatchObject([
      { kind: "snapshot_taken" },
      { kind: "checkpoint_marked", meta: { trigger: "memory_pressure_high" } },
    ]);
    // A new run is accepted and saved, and left to whoever has memory for it.
    await lab.drive(engine.start(flow, undefined, { id: "s" }));
    expect((await engine.get("s"))?.status).toBe("queued");
    await lab.clock.advance(10_000);
    expect((await engine.get("s"))?.status).toBe("queued");
    used = 0.8;
    await lab.clock.advance(10_000);
    expect((await engine.get("s"))?.status).toBe("queued");
    used = 0.5;
    await lab.clock.advance(1_500);
    expect((await engine.get("s"))?.status).toBe("running");
    expect(told).toMatchObject([{ high: true }, { used: 0.5, high: false }]);
    resume.resolve();
    expect(await lab.drive(engine.result("r"))).toEqual({ n: 5 });
    expect(await lab.drive(engine.result("s"))).toEqual({ n: 5 });
    expect((await events("s")).some(({ kind }) => kind === "checkpoint_marked")).toBe(false);
  });

  it("causes no write in a run without a loop: the mark goes with the next one", async () => {
    const lab = createLab();
    let used = 0.1;
    const resume = signalled();
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("s", () => resume.promise);
      await ctx.step("t", () => 1);
    });
    const engine = lab.engine([flow], { pressure: () => used, triggers: { memoryPressure: 0.5 } });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    const { flushes } = engine;
    used = 0.6;
    await lab.clock.advance(20_000);
    expect(engine.flushes).toBe(flushes);
    resume.resolve();
    await lab.drive(engine.result("r"));
    const entries = await lab.store.entries("r", { from: 1, limit: 100 });
    const kinds = entries.map((entry) => parseEntry("r", entry).events.map(({ kind }) => kind));
    expect(kinds).toContainEqual(["step_completed", "step_started", "checkpoint_marked"]);
  });

  it("goes on as usual where nobody watches", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("s", () => 1));
    const engine = lab.engine([flow], { pressure: () => 1, triggers: false });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect(await lab.drive(engine.result("r"))).toBe(1);
  });
});
