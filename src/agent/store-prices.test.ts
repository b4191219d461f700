import { describe, expect, it } from "vitest";
import { createLab } from "../../test/support/lab.ts";
import { workflow } from "../index.ts";
import { runAgent, scriptedProvider } from "./index.ts";

const DAY = 86_400_000;

const asks = workflow("asks", async (ctx) => {
  const answer = { text: "done", usage: { inputTokens: 1_000, outputTokens: 500 } };
  const provider = scriptedProvider({ agents: { agent: [answer] } });
  return (await runAgent(ctx, "agent", { provider, model: "own-model", prompt: "?" })).output;
});

describe("prices", () => {
  it("of the store come before the list, by date, with their source and who set them", async () => {
    const lab = createLab();
    const engine = lab.engine([]);
    const now = await lab.store.now();
    const today = { input: 2, output: 4, source: "contract 7" };
    await lab.drive(engine.prices.set("gpt-5", today, { actor: "ada", reason: "new contract" }));
    await lab.drive(engine.prices.set("gpt-5", { ...today, input: 1, from: now + DAY }));
    const of = async () => (await lab.drive(engine.prices.list())).filter(({ model }) => model === "gpt-5");
    expect(await of()).toMatchObject([
      { input: 1, from: now + DAY, isCurrent: false, set: { by: null } },
      { ...today, from: now, isCurrent: true, set: { by: "ada", at: now } },
      { input: 1.25, output: 10, isCurrent: false, set: null, source: "https://openai.com/api/pricing" },
    ]);
    expect(await engine.prices.priceOf(["gpt-5"])).toMatchObject({ input: 2 });
    await lab.clock.advance(DAY);
    expect(await lab.drive(engine.prices.priceOf(["gpt-5"]))).toMatchObject({ input: 1 });
    await lab.drive(engine.prices.delete("gpt-5"));
    expect(await of()).toMatchObject([{ input: 1.25, isCurrent: true }]);
    await expect(engine.prices.delete("gpt-5")).rejects.toMatchObject({ code: "HF-6015" });
    await expect(engine.prices.set("m", { ...today, output: -1 })).rejects.toMatchObject({ code: "HF-1003" });
    await expect(engine.prices.set("m", { ...today, source: "" })).rejects.toMatchObject({ code: "HF-1003" });
    await lab.drive(engine.close());
  });

  it("apply to calls that are made after them, wherever they were set, and change nothing that is recorded", async () => {
    const lab = createLab();
    const [engine, other] = [lab.engine([asks]), lab.engine([], { execute: false })];
    const costOf = async (id: string) => {
      await lab.drive(engine.start(asks, undefined, { id }));
      await lab.drive(engine.result(id));
      return (await lab.drive(engine.reports.costs({ run: id }))).total.costUsd;
    };
    expect(await costOf("before")).toBeNull();
    await lab.drive(other.prices.set("own-model", { input: 10, output: 20, source: "a bill" }));
    await lab.clock.advance(30_000);
    expect(await costOf("after")).toBeCloseTo(0.02);
    expect((await lab.drive(engine.reports.costs({ run: "before" }))).total.costUsd).toBeNull();
    await lab.drive(Promise.all([engine.close(), other.close()]));
  });

  it("let a run with a limit in money go on once its model has one", async () => {
    const lab = createLab();
    const engine = lab.engine([asks]);
    await lab.drive(engine.start(asks, undefined, { id: "limited", budget: { costUsd: 1 } }));
    expect(await lab.drive(engine.settled("limited"))).toMatchObject({ status: "failed" });
    await lab.drive(engine.prices.set("own-model", { input: 0, output: 0, source: "our own machine" }));
    await lab.drive(engine.resume("limited"));
    expect(await lab.drive(engine.settled("limited"))).toMatchObject({ status: "completed" });
    await lab.drive(engine.close());
  });
});
