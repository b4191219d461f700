// Workflows in every state that a page can show. A server or worker runs them: holdfast serve flows.mjs
import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { workflow } from "holdfast";
import { runAgent, scriptedProvider } from "holdfast/agent";
import { dagWorkflow } from "holdfast/dag";
import { defineAgent, defineTeam } from "holdfast/team";

/** Long enough to be seen, short enough to wait for. */
const BEAT_MS = Number(process.env["BEAT_MS"] ?? 40);
const beat = (/** @type {number} */ beats = 1) => delay(beats * BEAT_MS);

/** Pays invoices; a person says yes before money moves. */
export const reconcile = workflow(
  "reconcile-payments",
  async (ctx, /** @type {{ batch: string }} */ input) => {
    ctx.plan(["load", "match", "approve", "pay", "mail"]);
    const invoices = await ctx.step("load", async () => {
      await beat();
      return Array.from({ length: 6 }, (_, at) => ({
        id: `INV-${input.batch}-${at + 1}`,
        cents: 1_250 * (at + 1),
      }));
    });
    const matched = await ctx.each(
      "match",
      invoices,
      (invoice) =>
        ctx.step("ask", async () => {
          await beat(2);
          ctx.usage({ tokens: 1_850, costUsd: 0.021, model: "claude-opus-5-5" });
          return { ...invoice, isDelivered: invoice.cents % 2_500 === 0 };
        }),
      { concurrency: 3 },
    );
    const due = matched.filter(({ isDelivered }) => isDelivered);
    await ctx.gate("approve", { show: { batch: input.batch, due }, choices: ["pay", "reject"] });
    const receipts = await ctx.each("pay", due, (invoice) =>
      ctx.step("transfer", async ({ key }) => `${invoice.id} ${key.slice(0, 8)}`, {
        effect: "keyed",
        input: invoice,
      }),
    );
    await ctx.step("mail", async () => `told about ${receipts.length} payments`, { effect: "once" });
    return { batch: input.batch, receipts };
  },
);

/** Its provider refuses after a while; whoever resumes pays for nothing twice. */
export const research = workflow(
  "research",
  async (ctx, /** @type {{ topic: string; isDown?: boolean }} */ input) => {
    ctx.plan(["search", "read", "summarise"]);
    const found = await ctx.step("search", async () => {
      await beat();
      ctx.usage({ tokens: 900, costUsd: 0.004, model: "gpt-5.2-mini" });
      return [1, 2, 3, 4].map((n) => `${input.topic} source ${n}`);
    });
    await ctx.each("read", found, (source) => ctx.step("fetch", async () => (await beat(), source.length)), {
      concurrency: 2,
    });
    return ctx.step(
      "summarise",
      async () => {
        ctx.usage({ tokens: 4_200, costUsd: 0.052, model: "claude-opus-5-5" });
        if (input.isDown && !existsSync("provider-is-back"))
          throw Object.assign(new Error("rate limit of the provider"), { status: 429 });
        return `What is known about ${input.topic}`;
      },
      { retry: { attempts: 2, baseMs: 20 } },
    );
  },
);

/** Dies in the middle of a mail, the first time. Nobody knows whether it was sent. */
export const invite = workflow("invite", async (ctx, /** @type {{ to: string }} */ input) => {
  await ctx.step("write", async () => (await beat(), `Dear ${input.to}`));
  return ctx.step(
    "send",
    async () => {
      const mark = `died-${ctx.runId}`;
      if (!existsSync(mark)) {
        writeFileSync(mark, "");
        process.kill(process.pid, "SIGKILL");
      }
      return "sent";
    },
    { effect: "once" },
  );
});

const provider = scriptedProvider({
  agents: {
    clerk: [
      { calls: [{ tool: "lookup", input: { order: "A-1042" } }], text: "Let me look at the order first." },
      {
        calls: [{ tool: "refund", input: { order: "A-1042", cents: 1_900 } }],
        text: "The lamp was broken: I give the money back.",
      },
      { text: "I have refunded 19.00 euros for the broken lamp." },
    ],
  },
});

/** An agent with two tools. */
export const complaint = workflow("complaint", async (ctx, /** @type {{ letter: string }} */ input) => {
  const { output } = await runAgent(ctx, "clerk", {
    provider,
    model: "scripted",
    prices: { scripted: { input: 3, output: 15 } },
    system: "You answer complaints. Refund at most 20 euros.",
    prompt: input.letter,
    tools: [
      {
        name: "lookup",
        description: "Looks up an order",
        parameters: { type: "object" },
        effect: "repeatable",
        run: async () => ({ item: "lamp", cents: 1_900, state: "delivered" }),
      },
      {
        name: "refund",
        description: "Gives money back",
        parameters: { type: "object" },
        effect: "keyed",
        run: async () => "refunded",
      },
    ],
  });
  return output;
});

/** Thirty turns, each a checkpoint. */
export const refine = workflow("refine", async (ctx, /** @type {{ turns: number }} */ input) =>
  ctx.loop("draft", { turn: 0, words: 0 }, async (state, turn) => {
    const words = await ctx.step("improve", async () => (await beat(), 40 + state.turn * 7));
    state.turn += 1;
    state.words = words;
    return state.turn >= input.turns ? turn.done() : undefined;
  }),
);

/** Tasks in layers. */
export const report = dagWorkflow("nightly-report", {
  tools: {
    fetch: async ({ from }) => (await beat(2), `rows of ${String(from)}`),
    join: async (_, { results }) => Object.keys(results).length,
    write: async () => (await beat(), "report.pdf"),
    send: { effect: "keyed", run: async () => "delivered" },
  },
  dag: {
    tasks: [
      { id: "orders", tool: "fetch", arguments: { from: "orders" } },
      { id: "stock", tool: "fetch", arguments: { from: "stock" } },
      { id: "prices", tool: "fetch", arguments: { from: "prices" } },
      { id: "margin", tool: "join", dependsOn: ["orders", "prices"] },
      { id: "shortage", tool: "join", dependsOn: ["orders", "stock"] },
      { id: "page", tool: "write", dependsOn: ["margin", "shortage"] },
      { id: "deliver", tool: "send", dependsOn: ["page"] },
    ],
  },
});

const SPECIALISTS = {
  financial: ["revenue", "margins", "cash_flow", "balance_sheet"],
  strategy: ["moat", "ma_review", "management", "competition"],
  news: ["headlines", "sentiment", "events"],
  valuation: ["dcf", "multiples", "scenarios", "range", "target"],
};

/** Specialists with subtasks, side by side. */
export const stocks = defineTeam({
  name: "stock-team",
  concurrency: 3,
  stages: [
    { name: "research", agents: ["financial", "strategy", "news"] },
    { name: "valuation", agents: ["valuation"] },
  ],
  agents: Object.entries(SPECIALISTS).map(([type, subtasks]) =>
    defineAgent({
      type,
      version: "1.0",
      ...(type === "valuation" ? { needs: ["financial", "strategy"] } : {}),
      subtasks: subtasks.map((name) => ({
        name,
        deliverable: name,
        target: "memory",
        run: async ({ report, usage }) => {
          await beat(2);
          usage({ tokens: 2_400, costUsd: 0.031 });
          report({ confidence: 0.82 });
          return { [name]: `${name} looks sound` };
        },
      })),
    }),
  ),
});
