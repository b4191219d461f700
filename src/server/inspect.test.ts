import { describe, expect, it } from "vitest";
import { createApiStage } from "../../test/support/api.ts";
import { runAgent } from "../agent/run-agent.ts";
import { scriptedProvider } from "../agent/scripted.ts";
import { workflow } from "../index.ts";

const below = workflow("below", (ctx) => ctx.step("work", () => 1));
const order = workflow(
  "order",
  { version: "2.1", children: [below] },
  async (ctx, input: { size: number }) => {
    const text = await ctx.step("load", () => "x".repeat(input.size));
    ctx.decide({
      description: "pay now",
      rationale: "the offer ends",
      alternatives: ["wait"],
      confidence: 0.8,
    });
    await ctx.step(
      "pay",
      ({ attempt }) => (attempt === 1 ? Promise.reject(new Error("HTTP 503 from the bank")) : text.length),
      { effect: "keyed", retry: { attempts: 2, baseMs: 1_000 } },
    );
    await ctx.child("delegate", below, undefined);
    await ctx.gate("approve", { show: { amount: 7 }, choices: ["yes"] });
  },
);

const stageWith = async (size: number) => {
  const stage = createApiStage([order]);
  await stage.lab.drive(stage.engine.start(order, { size }, { id: "o-1" }));
  await stage.lab.clock.advance(60_000);
  return stage;
};

describe("a step through the API", () => {
  it("tells attempts, errors, effect class and what a crash would mean, without values (S1-32)", async () => {
    const { client } = await stageWith(10);
    const pay = await client.getStep({ run: "o-1", step: "pay" });
    expect(pay).toMatchObject({
      state: "done",
      effect: "keyed",
      version: "2.1",
      crash: expect.stringContaining("not called again"),
      attempts: [
        { attempt: 1, outcome: "failed", error: { name: "Error", message: "HTTP 503 from the bank" } },
        { attempt: 2, outcome: "done" },
      ],
    });
    expect(pay.attempts[0]?.waitMs).toBeGreaterThan(0);
    expect(pay.key).toBeTypeOf("string");
    const gate = await client.getStep({ run: "o-1", step: "approve" });
    expect([gate.state, gate.crash]).toEqual(["under way", expect.stringContaining("loses nothing")]);
    expect(JSON.stringify([pay, gate])).not.toMatch(/amount|xxxx/);
    await expect(client.getStep({ run: "o-1", step: "pya" })).rejects.toMatchObject({ code: "HF-4350" });
  });

  it("shows values cut to their beginning, to those who may and say why, and records it (S1-32)", async () => {
    const { client, engine, as } = await stageWith(3_000_000);
    await expect(
      as("op", "runs:read").readStep({ run: "o-1", step: "load", reason: "r" }),
    ).rejects.toMatchObject({
      status: 403,
    });
    const { output, isDropped } = await client.readStep({ run: "o-1", step: "load", reason: "ticket 7" });
    expect(output).toMatchObject({ length: 3_000_002, isWhole: false });
    expect([output?.text.length, isDropped]).toEqual([65_536, false]);
    const pay = await client.readStep({ run: "o-1", step: "pay", reason: "ticket 7" });
    expect(pay).toMatchObject({ output: { text: "3000000", isWhole: true }, errors: [{ attempt: 1 }] });
    const gate = await client.readStep({ run: "o-1", step: "approve", reason: "ticket 7" });
    expect(gate.given?.text).toContain('"amount":7');
    const state = await client.previewState({ run: "o-1", at: "last", reason: "ticket 7" });
    expect(state.steps["load"]).toMatchObject({ length: 3_000_002, isWhole: false });
    expect(JSON.stringify(state).length).toBeLessThan(200_000);
    const some = await client.previewState({ run: "o-1", at: "last", reason: "ticket 7", prefix: "pay" });
    expect([Object.keys(some.steps), some.steps["pay"]?.text, some.isCut]).toEqual([
      ["pay"],
      "3000000",
      false,
    ]);
    const { lines } = await engine.reports.trail("o-1");
    expect(
      lines.filter(({ kind }) => kind === "values_read").map(({ actor, reason }) => [actor, reason]),
    ).toEqual(Array.from({ length: 5 }, () => ["ada", "ticket 7"]));
  });

  it("tells what a decision was made of", async () => {
    const { client } = await stageWith(1);
    const { decisions } = await client.readState({ run: "o-1", at: "last", reason: "ticket 7" });
    expect(decisions).toMatchObject([{ description: "pay now", alternatives: ["wait"], confidence: 0.8 }]);
  });
});

describe("the lineage of a run", () => {
  it("names forks, sources, parents and children", async () => {
    const { client, lab } = await stageWith(1);
    await lab.clock.advance(1);
    const fork = await client.forkRun({ run: "o-1", at: "load", id: "o-2", reason: "what if" });
    const source = await client.getLineage({ run: "o-1" });
    expect(source.forks).toMatchObject([{ run: "o-2", workflow: "order", seq: fork.origin?.seq }]);
    const [child] = source.children;
    expect(child).toMatchObject({ workflow: "below", step: "delegate", status: "completed" });
    expect(await client.getLineage({ run: "o-2" })).toMatchObject({
      forkedFrom: [{ run: "o-1" }],
      forks: [],
    });
    expect(await client.getLineage({ run: child?.run ?? "" })).toMatchObject({
      parents: [{ run: "o-1", step: "delegate" }],
      more: false,
    });
  });
});

describe("the conversation of an agent", () => {
  it("has its messages and tool calls, page by page (S1-32)", async () => {
    const provider = scriptedProvider({
      agents: { clerk: [{ calls: [{ tool: "look", input: { id: 7 } }] }, { text: "It is paid." }] },
    });
    const look = {
      name: "look",
      description: "Looks",
      parameters: { type: "object" },
      effect: "repeatable" as const,
      run: () => "paid",
    };
    const talk = workflow("talk", async (ctx) => {
      await runAgent(ctx, "clerk", { provider, model: "m", prompt: "Is it paid?", tools: [look] });
      await ctx.gate("after", { choices: ["ok"] });
    });
    const { lab, engine, client } = createApiStage([talk]);
    await lab.drive(engine.start(talk, undefined, { id: "t" }));
    await lab.drive(engine.settled("t"));
    const all = await client.readConversation({ run: "t", at: "last", reason: "why" });
    expect(all).toMatchObject({
      agents: ["clerk"],
      agent: "clerk",
      messages: [
        { role: "user", text: "Is it paid?" },
        { role: "assistant", calls: [{ tool: "look", arguments: '{"id":7}' }] },
        { role: "tool", tool: "look", text: "paid" },
        { role: "assistant", text: "It is paid." },
      ],
      total: 4,
      next: null,
    });
    const page = await client.readConversation({ run: "t", at: "last", reason: "why", from: 1, limit: 2 });
    expect([page.messages.map(({ index }) => index), page.next]).toEqual([[1, 2], 3]);
    await expect(
      client.readConversation({ run: "t", at: "last", reason: "why", agent: "x" }),
    ).rejects.toMatchObject({ status: 400 });
  });
});
