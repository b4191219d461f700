import { workflow } from "holdfast";
import { witness } from "holdfast/testing";

/** Correct in every way: steps with effects are keyed or once, and a person approves. */
export const reconcile = workflow("reconcile", async (ctx, /** @type {{ invoices: string[] }} */ input) => {
  const invoices = await ctx.step("load", () => input.invoices.map((id) => ({ id, amount: id.length })));
  const amounts = await ctx.each("match", invoices, ({ amount }) => amount * 2, { concurrency: 2 });
  await ctx.gate("approve", { show: amounts, choices: ["yes", "no"] });
  for (const { id } of invoices) {
    await ctx.step(
      "pay",
      async () => {
        await witness("payment", id);
        return `paid ${id}`;
      },
      { effect: "keyed", input: id },
    );
  }
  await ctx.sleep("settle", 3_600_000);
  await ctx.step(
    "mail",
    async () => {
      await witness("mail", invoices.length);
      return { sent: true };
    },
    { effect: "once", timeoutMs: 30_000 },
  );
  return { total: amounts.reduce((sum, amount) => sum + amount, 0), token: ctx.uuid() };
});
