import { type Migration, workflow } from "holdfast";
import { toVersion2 } from "./v2.ts";

/** The price is in cents; the run's memory is carried over. */
const toVersion3: Migration = {
  from: "2",
  to: "3",
  state: ({ memory }) => ({ memory: { cents: Number(memory["dollars"]) * 100, dollars: undefined } }),
};

const options = { version: "3", schema: 2, migrations: [toVersion2, toVersion3] };

export const order = workflow("order", options, async (ctx) => {
  ctx.plan(["charge", "ship"]);
  if (ctx.memory.get("cents") === undefined) ctx.memory.set("cents", 1_250);
  await ctx.step("charge", ({ key }) => console.error(`… charged under the key ${key}`), { effect: "keyed" });
  return ctx.step("ship", () => `shipped for ${ctx.memory.get<number>("cents")} cents`);
});
