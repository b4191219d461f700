import { appendFileSync } from "node:fs";
import { workflow } from "holdfast";
import { witness } from "holdfast/testing";
import { transfer } from "./bank.ts";

const INVOICES = [
  { id: "INV-1", cents: 4_000 },
  { id: "INV-2", cents: 7_500 },
  { id: "INV-3", cents: 120 },
];
const DOCUMENTS = ["delivery of INV-1", "a letter", "delivery of INV-3"];

const match = (document: string) => INVOICES.find(({ id }) => document.endsWith(id));

/** Documents are matched with invoices; what matches is paid; the supplier is told. */
export const reconcile = workflow("reconcile-payments", async (ctx) => {
  ctx.plan(["match", "pay", "mail"]);
  const found = await ctx.each("match", DOCUMENTS, match, { concurrency: 2 });
  const due = found.filter((invoice) => invoice !== undefined);
  const receipts = await ctx.each("pay", due, ({ id, cents }) =>
    ctx.step(
      "transfer",
      async ({ key }) => {
        const receipt = transfer(id, cents, key);
        // Crash it here: the money has moved, and nobody has written that down.
        await witness("payment", id);
        return receipt;
      },
      { effect: "keyed", input: { id, cents } },
    ),
  );
  await ctx.step(
    "mail",
    async () => {
      appendFileSync("mails.txt", `Paid: ${receipts.join(", ")}\n`);
      await witness("mail", "supplier");
    },
    { effect: "once" },
  );
  return receipts;
});
