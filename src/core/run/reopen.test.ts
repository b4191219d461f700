import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { type Context, workflow } from "../../index.ts";

describe("a resume of a run that failed inside a step", () => {
  const failing = (body: (ctx: Context, calls: string[]) => Promise<unknown>) => {
    const calls: string[] = [];
    return { flow: workflow("flow", (ctx) => ctx.all("both", [() => body(ctx, calls)])), calls };
  };
  const once = (calls: string[], name: string) => (): string => {
    calls.push(name);
    if (calls.filter((one) => one === name).length === 1) throw new Error(name);
    return name;
  };

  it("tries what it failed on again, and leaves alone what the code had dealt with", async () => {
    const lab = createLab();
    const { flow, calls } = failing(async (ctx, made) => {
      const first = await ctx
        .step("first", once(made, "first"), { retry: false })
        .catch(() => ctx.step("instead", () => made.push("instead"), { effect: "once" }));
      return [first, await ctx.step("second", once(made, "second"), { retry: false })];
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toEqual([[2, "second"]]);
    expect(calls).toEqual(["first", "instead", "second", "second"]);
  });

  it("tries everything inside again that had failed, where the error does not say what it was", async () => {
    const lab = createLab();
    const { flow, calls } = failing(async (ctx, made) => {
      try {
        return await ctx.step("inner", once(made, "inner"), { retry: false });
      } catch {
        throw new Error("another one");
      }
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toEqual(["inner"]);
    expect(calls).toEqual(["inner", "inner"]);
  });
});
