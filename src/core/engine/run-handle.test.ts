import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { createLab } from "../../../test/support/lab.ts";
import { type RunHandle, workflow } from "../../index.ts";

const price = workflow("price", async (ctx, input: { item: string }) => {
  const { choice } = await ctx.gate("approve", { choices: ["buy", "leave"], show: input.item });
  expectTypeOf(choice).toEqualTypeOf<"buy" | "leave">();
  return { bought: choice === "buy", cents: 1_250 };
});

describe("the handle of a run", () => {
  it("has the type of the workflow's result, and acts on that run", async () => {
    const lab = createLab();
    const engine = lab.engine([price]);
    const run = await lab.drive(engine.start(price, { item: "lamp" }));
    expectTypeOf(run).toEqualTypeOf<RunHandle<{ bought: boolean; cents: number }>>();
    await lab.drive(run.settled());
    expect((await run.status()).headline).toMatch(/gate approve/);
    expect(await run.gates()).toMatchObject([{ gate: "approve", choices: ["buy", "leave"] }]);
    await lab.drive(run.answer("approve", { choice: "buy" }));
    expect(await lab.drive(run.result())).toEqual({ bought: true, cents: 1_250 });
    expect(await run.row()).toMatchObject({ id: run.id, status: "completed" });
  });

  it("is made again from the workflow and the id, and pauses, resumes and cancels", async () => {
    const lab = createLab();
    const engine = lab.engine([price]);
    await lab.drive(engine.start(price, { item: "lamp" }, { id: "r" }));
    const run = engine.run(price, "r");
    expectTypeOf(run.result).returns.resolves.toEqualTypeOf<{ bought: boolean; cents: number }>();
    await lab.drive(run.settled());
    expect(await lab.drive(run.pause())).toMatchObject({ status: "paused" });
    expect((await lab.drive(run.resume())).status).not.toBe("paused");
    expect(await lab.drive(run.cancel())).toMatchObject({ status: "cancelled" });
  });

  it("refuses an id that can't be one", () => {
    const engine = createLab().engine([price]);
    expect(() => engine.run(price, "not an id")).toThrow(expect.objectContaining({ code: "HF-1004" }));
  });
});

const order = workflow(
  "order",
  { input: z.object({ item: z.string(), count: z.number().int().default(1) }) },
  (ctx, { item, count }) => {
    expectTypeOf(count).toEqualTypeOf<number>();
    return ctx.step("say", () => `${count} × ${item}`);
  },
);

describe("an input with a schema", () => {
  it("is checked when the run is started, and the run gets what the schema makes of it", async () => {
    const lab = createLab();
    const engine = lab.engine([order]);
    const run = await lab.drive(engine.start(order, { item: "lamp" }));
    expect(await lab.drive(run.result())).toBe("1 × lamp");
  });

  it("is refused with the place of each problem, and no run is created", async () => {
    const lab = createLab();
    const engine = lab.engine([order]);
    const wrong = { item: 7, count: 1.5 } as never;
    await expect(lab.drive(engine.start(order, wrong, { id: "r" }))).rejects.toMatchObject({
      code: "HF-1042",
      message: expect.stringMatching(/^The input of order .*item: .*; count: /),
    });
    expect(await engine.get("r")).toBeNull();
  });

  it("is the same input when a default is left out the second time", async () => {
    const lab = createLab();
    const engine = lab.engine([order]);
    await lab.drive(engine.start(order, { item: "lamp", count: 1 }, { id: "r" }));
    expect((await lab.drive(engine.start(order, { item: "lamp" }, { id: "r" }))).id).toBe("r");
  });

  it("is declared with something that is a schema", () => {
    const define = () => workflow("x", { input: {} as never }, () => 1);
    expect(define).toThrow(expect.objectContaining({ code: "HF-1003" }));
  });
});
