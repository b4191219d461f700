import { workflow } from "holdfast";
import { witness } from "holdfast/testing";

/** Wrong on purpose: the effect stands between the steps, and so happens with every replay. */
export const greeting = workflow("greeting", async (ctx) => {
  const name = await ctx.step("ask", () => "Ada");
  await witness("welcome", name);
  return ctx.step("note", () => `welcomed ${name}`);
});
