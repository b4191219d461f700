import { workflow } from "holdfast";
import { witness } from "holdfast/testing";

/** Wrong on purpose: the effect is between steps, and so is repeated by every replay. */
export const greeting = workflow("greeting", async (ctx) => {
  const name = await ctx.step("ask", () => "Ada");
  await witness("welcome", name);
  return ctx.step("note", () => `welcomed ${name}`);
});
