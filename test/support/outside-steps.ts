import { workflow } from "../../src/index.ts";

/** A workflow that works outside of its steps in every way that a replay check notices. */
export const careless = workflow("careless", async (ctx) => {
  const started = Date.now() + new Date().getTime() + Math.random();
  await ctx.step(`load ${Math.floor(Math.random() * 1e9)}`, () => started);
  await new Promise((resolve) => setTimeout(resolve, 1));
  await ctx.signal("go");
  return crypto.randomUUID();
});

export const careful = workflow("careful", async (ctx) => {
  const at = ctx.now() + ctx.random();
  await ctx.step("load", () => Date.now() + Math.random(), { input: new Date(at) });
  await ctx.signal("go");
  return ctx.uuid();
});
