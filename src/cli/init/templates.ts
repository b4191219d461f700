/** The workflows of `holdfast init`. Each runs as it is, without a key or a server. */
export const TEMPLATES = {
  hello: `import { workflow } from "holdfast";

const think = (ms = 800) => new Promise((resolve) => setTimeout(resolve, ms));

// Stop it with Ctrl-C or kill -9 while it runs, then: npx holdfast resume hello
export const hello = workflow("hello", async (ctx, input: { name: string; thinkMs?: number }) => {
  ctx.plan(["look up", "compose", "send"]);
  const facts = await ctx.step("look up", async () => {
    await think(input.thinkMs);
    return { letters: input.name.length };
  });
  const text = await ctx.step("compose", async () => {
    await think(input.thinkMs);
    return \`Hello \${input.name}, \${facts.letters} letters\`;
  });
  // The same key on every attempt, so that the receiver can recognise a repeat.
  return ctx.step("send", async ({ key }) => {
    await think(input.thinkMs);
    return { text, receipt: key.slice(0, 8) };
  }, { effect: "keyed" });
});
`,
  gate: `import { workflow } from "holdfast";

// Stops at the gate: npx holdfast gate approve gate:release
export const gate = workflow("gate", async (ctx, input: { amount: number }) => {
  const offer = await ctx.step("prepare", () => ({ amount: input.amount, to: "ACME" }));
  const { choice } = await ctx.gate("release", { show: offer, choices: ["approve", "reject"] });
  if (choice === "reject") return "not released";
  return ctx.step("pay", ({ key }) => \`paid \${offer.amount} under \${key}\`, { effect: "keyed" });
});
`,
  parallel: `import { workflow } from "holdfast";

const think = (ms = 600) => new Promise((resolve) => setTimeout(resolve, ms));

// Each topic is saved when it is done; after a crash only the unfinished ones run again.
export const parallel = workflow("parallel", async (ctx, input: { topics: string[]; thinkMs?: number }) => {
  const notes = await ctx.each("research", input.topics, async (topic) => {
    await think(input.thinkMs);
    return \`about \${topic}\`;
  }, { concurrency: 4 });
  return ctx.step("summary", () => notes.join("; "));
});
`,
  recon: `import { workflow } from "holdfast";

const load = async (batch = "") => [
  { id: "INV-1", amount: 40 },
  { id: "INV-2", amount: 75, batch },
];

// Money moves once: the step's key is the same on every attempt and after every crash.
export const recon = workflow("recon", async (ctx, input: { batch: string }) => {
  ctx.plan(["load", "match", "approve", "pay"]);
  const invoices = await ctx.step("load", () => load(input.batch));
  const matched = await ctx.each("match", invoices, ({ id, amount }) => ({ id, amount, ok: amount < 100 }));
  await ctx.gate("approve", { show: matched, choices: ["approve", "reject"] });
  const total = matched.reduce((sum, { amount }) => sum + amount, 0);
  return ctx.step("pay", ({ key }) => ({ total, receipt: key }), { effect: "keyed" });
});
`,
} as const;

export type TemplateName = keyof typeof TEMPLATES;

/** An input for each, which doesn't let a test wait. */
export const INPUTS: Readonly<Record<TemplateName, object>> = {
  hello: { name: "Ada", thinkMs: 1 },
  gate: { amount: 120 },
  parallel: { topics: ["rain", "snow"], thinkMs: 1 },
  recon: { batch: "2026-01" },
};

/** The same input for the command line, at the speed of people. */
export const inWords = (name: TemplateName): string =>
  Object.entries(INPUTS[name])
    .filter(([key]) => key !== "thinkMs")
    .map(([key, value]) =>
      typeof value === "object"
        ? `-i "${key}=${JSON.stringify(value).replaceAll('"', '\\"')}"`
        : `-i ${key}=${String(value)}`,
    )
    .join(" ");

/** The only types in the templates are those of their inputs. */
export const withoutTypes = (text: string): string => text.replace(/, input: \{[^}]*\}/g, ", input");
