import { describe, expect, it } from "vitest";
import { workflow } from "../../src/index.ts";
import { damage } from "../support/damage.ts";
import { createLab, type Lab } from "../support/lab.ts";

const flow = workflow("flow", async (ctx) => {
  await ctx.step("layer", () => ({ tasks: ["a", "b"] }));
  await ctx.gate("go", { choices: ["yes"] });
});

async function stopped(): Promise<Lab> {
  const lab = createLab();
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  await lab.crash(engine);
  return lab;
}

describe("a checkpoint that cannot be resumed from", () => {
  it.each(["r@99", "r@never", "none@3", "550e8400-e29b-41d4-a716-446655440000"])(
    "throws for the id %s, which names none (S2-20)",
    async (id) => {
      const lab = await stopped();
      const engine = lab.engine([flow]);
      const act = (promise: Promise<unknown>) =>
        expect(lab.drive(promise)).rejects.toMatchObject({ code: expect.stringMatching(/^HF-10/) });
      await act(engine.checkpoints.show(id));
      await act(engine.fork(id));
    },
  );

  it("throws when its state is corrupt, and makes nothing (S2-20)", async () => {
    const lab = await stopped();
    const engine = lab.engine([flow], { store: damage(lab.store) });
    await expect(lab.drive(engine.checkpoints.show("r"))).rejects.toMatchObject({ code: "HF-3010" });
    await expect(lab.drive(engine.fork("r", { id: "fork" }))).rejects.toMatchObject({ code: "HF-3010" });
    expect(await lab.store.read("fork")).toBeNull();
  });
});

it.each(["loop", "step", "branch"])(
  "pruning keeps the N most recent where each %s has many parts (S2-27)",
  async (kind) => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      const parts = async () => {
        for (let i = 0; i < 7; i++) await ctx.step(`part ${i}`, () => i);
      };
      for (let n = 0; n < (kind === "step" ? 12 : 0); n++) await ctx.step(`task ${n}`, parts);
      if (kind === "branch") await ctx.each("task", Array.from({ length: 12 }), parts, { concurrency: 1 });
      if (kind === "loop")
        await ctx.loop("turn", {}, async (_, turn) => {
          await parts();
          return turn.index === 11 ? turn.done() : undefined;
        });
      await ctx.gate("look", { choices: ["ok"] });
    });
    const engine = lab.engine([flow], { retention: { keepLast: 5 } });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.clock.advance(1_000);
    const kept = await engine.checkpoints.list("r");
    expect(kept.map(({ step }) => step.split("/").length)).toEqual([1, 1, 1, 1, 1]);
    for (const { id } of kept) expect((await engine.checkpoints.show(id)).id).toBe(id);
    const oldest = kept.at(-1)?.seq ?? 0;
    for (let seq = 2; seq < oldest; seq++)
      await expect(engine.checkpoints.show(`r@${seq}`)).rejects.toMatchObject({
        code: expect.stringMatching(/^HF-102[23]$/),
      });
  },
);
