import { type Migration, workflow } from "holdfast";

/** The step has another name; what was done under the old one counts. */
export const toVersion2: Migration = { from: "1", to: "2", rename: { pay: "charge" } };

export const order = workflow("order", { version: "2", migrations: [toVersion2] }, async (ctx) => {
  ctx.plan(["charge", "ship"]);
  ctx.memory.set("dollars", 12.5);
  await ctx.step("charge", ({ key }) => console.error(`… charged under the key ${key}`), { effect: "keyed" });
  return ctx.step("ship", () => `shipped for $${ctx.memory.get<number>("dollars")}`);
});
