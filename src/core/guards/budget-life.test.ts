import { describe, expect, it } from "vitest";
import { createLab, hangs } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";

/** Steps that use 100 tokens each. */
const spending = (name: string, version: string, steps: number, options: object = {}) =>
  workflow(name, { version, ...options }, async (ctx) => {
    for (let n = 0; n < steps; n++) await ctx.step("ask", () => ctx.usage({ tokens: 100, costUsd: 0.01 }));
    return "done";
  });

describe("what was used up", () => {
  it("is carried to another store with the run, and so is its limit", async () => {
    const [here, there] = [createLab(), createLab()];
    const flow = spending("flow", "1", 5);
    const engine = here.engine([flow]);
    await here.drive(engine.start(flow, undefined, { id: "r", budget: { tokens: 300 } }));
    const left = await here.drive(engine.settled("r"));
    expect(left.waiting).toMatchObject([{ kind: "budget", step: "ask#4" }]);
    const other = there.engine([flow]);
    await there.drive(
      other.transfer.importRuns(engine.transfer.exportRun("r"), { accept: { actor: "ops" } }),
    );
    expect(await other.get("r")).toMatchObject({
      usage: left.usage,
      budget: { tokens: 300 },
      turns: left.turns,
    });
    await there.drive(other.resume("r", { budget: { tokens: 400 } }));
    const again = await there.drive(other.settled("r"));
    expect(again.waiting).toMatchObject([{ kind: "budget", step: "ask#5" }]);
    expect(again.usage.tokens).toBe(400);
  });

  it("is kept when the run goes on with another version of its code", async () => {
    const lab = createLab();
    const engine = lab.engine([spending("flow", "1", 5)]);
    await lab.drive(engine.start(spending("flow", "1", 5), undefined, { id: "r", budget: { tokens: 300 } }));
    await lab.drive(engine.settled("r"));
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const next = lab.engine([spending("flow", "2", 5, { migrations: [{ from: "1", to: "2" }] })]);
    await lab.drive(next.resume("r", { budget: { tokens: 400 } }));
    const run = await lab.drive(next.settled("r"));
    expect(run).toMatchObject({ version: "2", usage: { tokens: 400 }, budget: { tokens: 400 } });
    expect(run.waiting).toMatchObject([{ kind: "budget", step: "ask#5" }]);
  });
});

describe("working time", () => {
  it("does not count while nobody is at it: dead workers, waits, pauses and the time until a takeover", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      const work = (name: string, ms: number) =>
        ctx.step(name, ({ attempt }) =>
          name === "dies" && attempt === 1
            ? hangs()
            : new Promise<void>((resolve) => lab.clock.setTimer(resolve, ms)),
        );
      await work("a", 300);
      await work("dies", 300);
      await ctx.sleep("night", 8 * 3_600_000);
      await work("b", 300);
      return work("c", 300);
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { wallMs: 60_000 } }));
    await lab.clock.advance(400);
    // Nobody notices for an hour that its process is gone.
    await lab.crash(engine);
    await lab.clock.advance(3_600_000);
    const next = lab.engine([flow]);
    await lab.drive(next.recover());
    await lab.drive(next.settled("r"));
    await lab.drive(next.pause("r"));
    await lab.clock.advance(86_400_000);
    await lab.drive(next.resume("r"));
    await lab.drive(next.result("r"));
    const run = await next.get("r");
    expect(run?.activeMs).toBeGreaterThanOrEqual(1_200);
    expect(run?.activeMs).toBeLessThan(5_000);
  });
});
