import { describe, expect, it } from "vitest";
import { eventsOf } from "../../../test/support/family.ts";
import { createLab } from "../../../test/support/lab.ts";
import { type Migration, workflow } from "../../index.ts";

/** Both were found by killing processes at random: the run stayed `running`, its claim renewed, and nothing more happened. */
describe("a resume that comes before the run has paused", () => {
  const soon = (lab: ReturnType<typeof createLab>, ms: number): Promise<void> =>
    new Promise((resolve) => void lab.clock.setTimer(resolve, ms));

  it.each([false, true])("lets a run end whose code has ended meanwhile (failing: %s)", async (fails) => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("work", () => soon(lab, 100));
      if (fails) throw new Error("no");
      return "done";
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.pause("r"));
    await lab.clock.advance(110);
    expect(await engine.get("r")).toMatchObject({ status: "running", control: "pausing" });
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.settled("r"))).toMatchObject({ status: fails ? "failed" : "completed" });
    expect((await eventsOf(lab.store, "r")).map(({ kind }) => kind)).not.toContain("run_paused");
  });

  it("lets a run go on that was taken up only to be paused, with the code that it needs by then", async () => {
    const lab = createLab();
    const migrations: Migration[] = [{ from: "1", to: "2", rename: { pay: "charge" } }];
    const calls: string[] = [];
    const make = (version: string, name: string) =>
      workflow("flow", { version, ...(version === "2" ? { migrations } : {}) }, async (ctx) => {
        await ctx.step(name, () => calls.push("paid"), { effect: "keyed" });
        await ctx.step("wait", () => soon(lab, version === "1" ? 1_000_000 : 1));
        return version;
      });
    const first = lab.engine([make("1", "pay")]);
    await lab.drive(first.start(make("1", "pay"), undefined, { id: "r" }));
    await lab.clock.advance(10);
    await lab.drive(first.pause("r"));
    await lab.crash(first);
    await lab.clock.advance(20_000);
    const second = lab.engine([make("2", "charge")]);
    await lab.drive(second.recover());
    expect(await second.get("r")).toMatchObject({ status: "running", control: "pausing" });
    await lab.drive(second.resume("r"));
    expect(await lab.drive(second.result("r"))).toBe("2");
    expect(calls).toEqual(["paid"]);
  });
});
