import { join } from "node:path";
import { createEngine, type Engine, type Workflow, workflow } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/** Ends well, in three steps, one of which needs a second attempt. */
export const brief = workflow("brief", async (ctx, input: { topic: string }) => {
  ctx.plan(["collect", "score", "write"]);
  const notes = await ctx.step("collect", () => [`${input.topic}: 3 sources`]);
  const score = await ctx.step(
    "score",
    (call) => {
      ctx.usage({ tokens: 1_200, costUsd: 0.01, model: "small" });
      if (call.attempt === 1) throw Object.assign(new Error("HTTP 503 from scorer"), { retryable: true });
      return 0.9;
    },
    { retry: { attempts: 2, baseMs: 1 } },
  );
  ctx.decide({ agent: "editor", description: "publish", rationale: "score is high", confidence: score });
  await ctx.checkpoint("scored");
  return ctx.step("write", () => {
    ctx.usage({ tokens: 4_000, model: "local" });
    return { text: `${notes.length} note, score ${score}`, apiKey: "sk-abcdefghijklmnopqrstuvwx" };
  });
});

/** Waits at a gate after two of four steps. */
export const reconcile = workflow("reconcile", async (ctx, input: { batch: string }) => {
  ctx.plan(["load", "match", "approve", "pay"]);
  const docs = await ctx.step("load", () => ["a", "b"]);
  ctx.memory.set("matched", docs.length);
  await ctx.step("match", () => {
    ctx.usage({ tokens: 6_120, costUsd: 0.04, model: "large" });
    return docs.length;
  });
  const { choice } = await ctx.gate("approve", {
    show: { batch: input.batch, matched: 2 },
    choices: ["approve", "reject"],
    text: true,
  });
  if (choice === "reject") return "rejected";
  return ctx.step("pay", ({ key }) => key.slice(0, 4), { effect: "keyed" });
});

/** Fails in its second step, for good. */
export const stock = workflow("stock-analysis", async (ctx, ticker: string) => {
  await ctx.step("financial", () => ticker.length);
  await ctx.step("ma_review", () => {
    throw Object.assign(new Error("HTTP 429 from koyfin"), { retryable: false });
  });
});

export const every: readonly Workflow<never, unknown>[] = [brief, reconcile, stock];

/** Opens an engine on the store that commands in this folder use. */
export async function withRuns<T>(folder: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({ file: join(folder, ".holdfast", "holdfast.db") });
  const engine = createEngine({ store, workflows: every, quietMs: 5, holdMs: 50 });
  try {
    return await work(engine);
  } finally {
    await engine.close({ drainMs: 0 });
    await store.close();
  }
}

/** One run of each kind: `done-1` has completed, `recon-88` waits at its gate, `aapl-17` has failed. */
export const fillStore = (folder: string): Promise<void> =>
  withRuns(folder, async (engine) => {
    await engine.start(brief, { topic: "bolts" }, { id: "done-1" });
    await engine.result("done-1");
    await engine.start(stock, "AAPL", { id: "aapl-17" });
    await engine.settled("aapl-17");
    await engine.start(reconcile, { batch: "2026-01" }, { id: "recon-88" });
    await engine.settled("recon-88");
  });

/** Replaces durations, which vary, or disappear. */
export const timeless = (text: string): string =>
  text
    .replace(/ · \d+(?:\.\d+)?m?s(?: at work)?\b/g, "")
    .replace(/ +\d+(?:\.\d+)?m?s\b/g, " 0s")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
