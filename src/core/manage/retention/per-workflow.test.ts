import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import { codeOf, run } from "../../../../test/support/retention.ts";
import { type Engine, workflow } from "../../../index.ts";

const DAY = 86_400_000;

const steps = workflow("steps", async (ctx) => {
  for (let n = 0; n < 4; n++) await ctx.step(`s${n}`, () => n);
});

describe("checkpoints of a workflow", () => {
  it("are counted over all its runs, oldest dropped first, when a run ends (S3-12)", async () => {
    const lab = createLab();
    const engine = lab.engine([steps], { retention: { keepLast: 6, keepPer: "workflow" } });
    const counts = async () => {
      const found: number[] = [];
      for (const id of ["a", "b", "c"])
        found.push((await lab.drive(engine.checkpoints.list(id).catch(() => []))).length);
      return found;
    };
    await run(lab, engine, steps, "a");
    await lab.clock.advance(2_000);
    expect(await counts()).toEqual([5, 0, 0]);
    await run(lab, engine, steps, "b");
    await lab.clock.advance(2_000);
    expect(await counts()).toEqual([1, 5, 0]);
    await run(lab, engine, steps, "c");
    await lab.clock.advance(2_000);
    expect(await counts()).toEqual([0, 1, 5]);
    expect(await lab.drive(engine.result("c"))).toBeUndefined();
    await lab.drive(engine.close());
  });
});

describe("the age of a checkpoint", () => {
  it("counts from when it was saved, also in a run that goes on; the newest stays (S3-13, S3-19)", async () => {
    const lab = createLab();
    const waits = workflow("waits", async (ctx) => {
      for (let n = 0; n < 3; n++) {
        await ctx.step(`s${n}`, () => n);
        await ctx.gate(`g${n}`, { choices: ["yes"] });
      }
    });
    const engine = lab.engine([waits]);
    await run(lab, engine, waits, "a");
    for (const n of [0, 1]) {
      lab.clock.jump(5 * DAY);
      await lab.drive(engine.answer("a", `g${n}`, { choice: "yes" }));
      await lab.drive(engine.settled("a"));
      await lab.clock.advance(1_000);
    }
    const all = await lab.drive(engine.checkpoints.list("a"));
    const left = async (of: Engine) => (await lab.drive(of.checkpoints.list("a"))).map(({ id }) => id);
    await lab.drive(engine.retention.prune({ checkpointMaxAge: "7d" }));
    const young = all.filter(({ at }) => at >= lab.clock.now() - 7 * DAY).map(({ id }) => id);
    expect(await left(engine)).toEqual(young);
    expect(young.length).toBeLessThan(all.length);
    expect(await codeOf(lab.drive(engine.checkpoints.show(all.at(-1)?.id ?? "")))).toBe("HF-1023");
    lab.clock.jump(30 * DAY);
    await lab.drive(engine.retention.prune({ checkpointMaxAge: "7d" }));
    expect(await left(engine)).toEqual(young.slice(0, 1));
    await lab.drive(engine.answer("a", "g2", { choice: "yes" }));
    await lab.drive(engine.result("a"));
    await lab.drive(engine.close());
  });
});
