import { workflow } from "holdfast";

/** Wrong on purpose: the name of a step changes with every replay. */
export const stamped = workflow("stamped", async (ctx) => {
  const first = await ctx.step(`load-${process.pid}`, () => 1);
  return ctx.step("add", () => first + 1);
});
