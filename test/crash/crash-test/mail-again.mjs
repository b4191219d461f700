import { workflow } from "holdfast";
import { witness } from "holdfast/testing";

/** Wrong on purpose: the mail is sent in a step that may be called again. */
export const reminder = workflow("reminder", async (ctx) => {
  const to = await ctx.step("find", () => "mail-7");
  await ctx.step("mail", async () => {
    await witness("mail", to);
  });
  return to;
});
