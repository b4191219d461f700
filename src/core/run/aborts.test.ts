import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { type Context, type StepCall, workflow } from "../../index.ts";

describe("a call that begins when its scope was told to stop already", () => {
  type Look = (call: StepCall) => number;
  const inside: Record<string, (ctx: Context, look: Look) => Promise<unknown>> = {
    "a step": (ctx, look) => ctx.step("late", look, { retry: false }),
    "a step with a time limit": (ctx, look) => ctx.step("late", look, { timeoutMs: 1_000, retry: false }),
    "a group": (ctx, look) => ctx.all("late", { a: look }),
    "a group inside a group": (ctx, look) => ctx.all("late", { a: () => ctx.all("later", { b: look }) }),
    "a list inside a step with a time limit": (ctx, look) =>
      ctx.step("late", () => ctx.each("items", [1], (_, __, call) => look(call)), { timeoutMs: 1_000 }),
  };

  it.each(Object.entries(inside))("sees that, in %s (E7)", async (_, begin) => {
    const lab = createLab();
    const seen: boolean[] = [];
    const look: Look = ({ signal }) => seen.push(signal.aborted);
    const flow = workflow("flow", (ctx) =>
      ctx.all("group", {
        fails: () => Promise.reject(new Error("no")),
        late: async (call) => {
          // It goes on after its group was told to stop.
          await new Promise((resolve) => call.signal.addEventListener("abort", resolve, { once: true }));
          await begin(ctx, look);
        },
      }),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    expect(seen).toEqual([true]);
  });
});
