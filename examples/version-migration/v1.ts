import { workflow } from "holdfast";

/** Version 1: the price in dollars; the customer pays, then it is shipped. */
export const order = workflow("order", { version: "1" }, async (ctx) => {
  ctx.plan(["pay", "ship"]);
  ctx.memory.set("dollars", 12.5);
  await ctx.step("pay", ({ key }) => console.error(`… paid under the key ${key}`), { effect: "keyed" });
  return ctx.step("ship", () => `shipped for $${ctx.memory.get<number>("dollars")}`);
});
