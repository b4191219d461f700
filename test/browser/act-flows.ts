/**
 * Workflows for the acts: one that fails until a file is there, one with a step that ends when a file is there, one
 * that asks, and one whose worker ends in the middle of a call. What they call is counted in files.
 */
export const ACT_FLOWS = `
import { existsSync, appendFileSync } from "node:fs";
import { setTimeout as rest } from "node:timers/promises";
import { workflow } from "holdfast";

const noted = (name) => appendFileSync("calls.txt", name + "\\n");
const there = async (name) => { while (!existsSync(name)) await rest(20); };

export const report = workflow("report", async (ctx, input) => {
  const rows = await ctx.step("load", () => { noted("load"); return [1, 2, 3]; });
  await ctx.memory.set("model", "small");
  const total = await ctx.step("sum", () => rows.reduce((a, b) => a + b, 0) * (input?.factor ?? 1));
  await ctx.step("publish", () => {
    noted("publish");
    if (!existsSync("fixed")) throw new Error("The disk is full.");
    return "published " + total;
  }, { retry: { attempts: 1 } });
  return total;
});

export const slow = workflow("slow", async (ctx) => {
  await ctx.step("render", async () => { await there("render-done"); return 1; });
  await ctx.step("upload", () => 2);
});

export const invoice = workflow("invoice", async (ctx, input) => {
  const { choice } = await ctx.gate("approve", {
    show: { question: "Pay this invoice?", supplier: "Lindqvist", amount: 4200, lines: [{ sku: "A-1", qty: 3 }] },
    choices: ["approve", "reject"],
    means: { approve: "The money is sent at once.", reject: "The run ends, and nothing is paid." },
    text: true,
    ...(input?.fourEyes ? { fourEyes: true } : {}),
  });
  if (choice === "reject") return "rejected";
  await ctx.step("pay", ({ key }) => { noted("pay " + key.slice(0, 4)); return { paid: true }; }, { effect: "keyed", input: { amount: 4200 } });
  return "paid";
});

export const transfer = workflow("transfer", async (ctx) => {
  await ctx.step("prepare", () => "ready");
  await ctx.step("send-money", async () => {
    noted("send-money");
    console.error("sends the money");
    await there("never");
  }, { effect: "once", input: { to: "DE02", amount: 900 } });
  await ctx.step("confirm", () => "confirmed");
});
`;
