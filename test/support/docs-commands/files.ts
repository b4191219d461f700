const waiting = (name: string, gate: string, choices: string): string => `
import { workflow } from "holdfast";
export const flow = workflow("${name}", { version: "1.0" }, async (ctx, input: Record<string, unknown>) => {
  ctx.memory.set("customer", "C-71");
  await ctx.step("load", () => ({ given: input ?? null }));
  ctx.memory.set("totals", { net: 10 });
  await ctx.step("charge", () => "charged", { effect: "keyed" });
  const { choice } = await ctx.gate("${gate}", { show: "a letter", choices: ${choices} });
  return choice;
});
`;

const ending = (name: string): string => `
import { workflow } from "holdfast";
export const flow = workflow("${name}", { version: "1.0" }, async (ctx) => ctx.step("work", () => "${name}"));
`;

/** A second version, with the way from the first. */
const V2 = `
import { workflow } from "holdfast";
export const flow = workflow(
  "order",
  { version: "2.0", migrations: [{ from: "1.0", to: "2.0", migrate: (state: object) => state }] },
  async (ctx) => {
    await ctx.step("load", () => ({ given: null }));
    await ctx.step("charge", () => "charged", { effect: "keyed" });
    return (await ctx.gate("signoff", { show: "a letter", choices: ["approve", "revise"] })).choice;
  },
);
`;

/** Fails until a file says otherwise. */
const FETCH = `
import { existsSync } from "node:fs";
import { workflow } from "holdfast";
export const flow = workflow("stock", { version: "1.0" }, async (ctx) => {
  await ctx.step("open", () => 1);
  return ctx.step("fetch", () => {
    if (!existsSync("open")) throw Object.assign(new Error("HTTP 500"), { retryable: false });
    return "prices";
  });
});
`;

/** As on the page, with a script in place of the models. */
const RESEARCH = `
workflow: { name: research, entry_point: answers, input: { topic: { type: string } } }
agents:
  - { name: answers, type: script, command: echo, args: ["{{ workflow.input.topic }}"], effect: repeatable, routes: [{ to: approve }] }
  - name: approve
    type: human_gate
    prompt: "Publish this? {{ answers.output.stdout }}"
    options:
      - { label: Publish, value: "yes", route: $end }
      - { label: Start over, value: "no", route: answers }
`;

/** The project whose commands the pages show. */
export const FILES: Readonly<Record<string, string>> = {
  "package.json": "{}",
  "order.mts": waiting("order", "signoff", '["approve", "revise"]'),
  "flow.ts": ending("flow"),
  "flows/pay.ts": ending("pay"),
  "flows/mail.ts": ending("mail"),
  "flows/report.ts": ending("report"),
  "reconcile.ts": ending("reconcile"),
  "v2.ts": V2,
  "fetch.mts": FETCH,
  "research.yaml": RESEARCH,
  "input.json": '{ "topic": "bolts" }',
};
