import { appendFileSync, readFileSync } from "node:fs";
import { workflow } from "holdfast";

export interface Order {
  readonly item: string;
}

/** An order: it writes what it does into the stream `log`, which the shop's page follows. */
export const order = workflow("order", async (ctx, { item }: Order) => {
  const log = ctx.stream<string>("log");
  await log.append(`reserving ${item}`);
  await ctx.step("reserve", () => did("reserve"));
  await log.append("asking for the payment");
  await ctx.step("charge", () => did("charge"), { effect: "keyed" });
  const { choice } = await ctx.gate("gift wrap", { choices: ["yes", "no"] });
  await log.append(choice === "yes" ? "wrapping it" : "packing it as it is");
  await ctx.step("pack", () => did("pack"));
  await log.close();
  return { item, wrapped: choice === "yes" };
});

function did(what: string): string {
  appendFileSync("calls.log", `${what}\n`);
  // Crash it here.
  const isFirst = readFileSync("calls.log", "utf8") === "reserve\ncharge\n";
  if (isFirst) process.kill(process.pid, "SIGKILL");
  return what;
}
