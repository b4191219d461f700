import { describe, expect, it } from "vitest";
import { createLab, hangs } from "../../../../test/support/lab.ts";
import { type AgentTool, runAgent, scriptedProvider } from "../../../agent/index.ts";
import { workflow } from "../../../index.ts";
import { checkpointToJson } from "../../../manage.ts";

/** A run of everything that a checkpoint is to carry, stopped in the middle of its fourth step of five. */
async function inTheMiddle() {
  const lab = createLab();
  const later = <T>(ms: number, value: T): Promise<T> =>
    new Promise((resolve) => lab.clock.setTimer(() => resolve(value), ms));
  const flow = workflow("analysis", { version: "7", schema: 3 }, async (ctx, _: { ticker: string }) => {
    ctx.plan(["load", "score", "review", "write", "send"]);
    ctx.memory.set("records", ["episodic-1", "semantic-9"]);
    await ctx.step("load", async () => (ctx.usage({ tokens: 100, costUsd: 0.25 }), later(40, [1, 2])), {
      input: { ticker: "AAPL" },
    });
    let tries = 0;
    await ctx.step(
      "score",
      () => (++tries === 1 ? Promise.reject(Object.assign(new Error("busy"), { status: 503 })) : 0.9),
      {
        retry: { attempts: 3, baseMs: 10 },
      },
    );
    ctx.decide({
      agent: "mercury",
      type: "workflow_adjustment",
      description: "one more specialist",
      rationale: "confidence is low",
      alternatives: ["ask a person"],
      confidence: 0.73,
    });
    ctx.agent("mercury", {
      status: "active",
      confidence: 0.73,
      blockers: ["data"],
      state: new Uint8Array([1, 2, 255]),
    });
    ctx.agent("review", { status: "completed", confidence: 0.9, state: { notes: 2 } });
    await ctx.gate("review", { choices: ["yes"] });
    await ctx.step("write", hangs);
    await ctx.step("send", () => 1);
  });
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, { ticker: "AAPL" }, { id: "r", config: { model: "m" } }));
  await lab.drive(engine.settled("r"));
  await lab.clock.advance(500);
  await lab.drive(engine.answer("r", "review", { choice: "yes", actor: "Ada" }));
  await lab.clock.advance(100);
  return { lab, engine, flow };
}

describe("a checkpoint carries what each of the projects before it recorded", () => {
  it("progress, memory, interim results, context, failure, versions and metrics (S0-02, S0-06, S0-07, S0-08, S0-09, S2-32, S4-04)", async () => {
    const { engine } = await inTheMiddle();
    const { at, createdAt, usage, metrics, failure, ...shown } = await engine.checkpoints.show("r");
    expect(shown).toMatchObject({
      workflow: "analysis",
      version: "7",
      schema: 3,
      input: { ticker: "AAPL" },
      config: { model: "m" },
      progress: { done: 3, total: 5, percent: 60, text: "3 of 5" },
      current: [{ step: "write", attempt: 1 }],
      completed: ["load", "score", "review"],
      pending: ["write", "send"],
      memory: { records: ["episodic-1", "semantic-9"] },
      steps: { load: [1, 2], score: 0.9, review: { choice: "yes" } },
      retries: 1,
      phase: "write",
      agents: {
        mercury: {
          status: "active",
          confidence: 0.73,
          blockers: ["data"],
          state: new Uint8Array([1, 2, 255]),
        },
      },
      decisions: [
        {
          agent: "mercury",
          type: "workflow_adjustment",
          description: "one more specialist",
          rationale: "confidence is low",
          alternatives: ["ask a person"],
          confidence: 0.73,
          at: expect.any(Number),
        },
      ],
    });
    expect(failure).toMatchObject({ step: "score", attempt: 1, message: "busy" });
    expect(usage).toMatchObject({ tokens: 100, costUsd: 0.25 });
    // Two calls of which one was made twice, and the one under way.
    expect(metrics).toEqual({ elapsedMs: at - createdAt, calls: 4 });
    expect(metrics.elapsedMs).toBeGreaterThan(500);
  });

  it("finished tasks and no others, each with its result, when it came and how long it took (S2-15)", async () => {
    const { engine } = await inTheMiddle();
    const tasks = await engine.checkpoints.tasks("r");
    expect(tasks.map(({ taskId, result }) => [taskId, result])).toMatchObject([
      ["load", [1, 2]],
      ["score", 0.9],
      ["review", { choice: "yes" }],
    ]);
    const { at } = await engine.checkpoints.show("r");
    const [load, score, review] = tasks;
    expect(load).toEqual({ taskId: "load", result: [1, 2], timestamp: expect.any(Number), duration: 40 });
    expect(score?.duration).toBe(0);
    expect(review?.duration).toBeGreaterThanOrEqual(500);
    for (const { timestamp } of tasks) expect(timestamp).toBeLessThanOrEqual(at);
    const [first] = (await engine.checkpoints.list("r", { limit: 100 })).slice(-1);
    expect((await engine.checkpoints.tasks(first?.id ?? "")).map(({ taskId }) => taskId)).toEqual(["load"]);
  });

  it("tasks under the names they have now", async () => {
    const { lab, engine } = await inTheMiddle();
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const migrations = [{ from: "7", to: "8", rename: { load: "fetch" } }];
    const next = workflow(
      "analysis",
      { version: "8", schema: 3, migrations },
      async (ctx, _: { ticker: string }) => {
        await ctx.step("fetch", () => 0);
        await ctx.step("score", () => 0);
        await ctx.gate("review", { choices: ["yes"] });
        await ctx.step("write", hangs);
      },
    );
    const other = lab.engine([next]);
    await lab.drive(other.recover());
    await lab.clock.advance(500);
    expect((await other.checkpoints.tasks("r"))[0]).toMatchObject({ taskId: "fetch", duration: 40 });
  });

  it("an agent's conversation with the ids, arguments and results of its tool calls (S1-04)", async () => {
    const lab = createLab();
    const parameters = { type: "object", properties: { city: { type: "string" } } };
    const tools: AgentTool[] = [
      { name: "weather", parameters, effect: "keyed", run: () => ({ degrees: 7 }) },
    ];
    const provider = scriptedProvider({
      agents: {
        a: [
          { text: "let me see", calls: [{ tool: "weather", input: { city: "Bern" } }] },
          { text: "7 degrees" },
        ],
      },
    });
    const flow = workflow("flow", (ctx) =>
      runAgent(ctx, "a", { provider, model: "m", prompt: "how warm is it?", tools }),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    const { loops, iterations, metrics } = await engine.checkpoints.show("r");
    const text = JSON.stringify(loops["a"]);
    for (const part of ["how warm is it?", "weather", "Bern", "degrees", '"id":'])
      expect(text).toContain(part);
    expect(iterations).toMatchObject({ a: { iteration: 2, done: true } });
    expect(metrics.calls).toBe(3);
  });
});

describe("a checkpoint in the interchange format", () => {
  it("is JSON of version 1.0 with every field it has there (S4-02, S4-03, S4-15)", async () => {
    const { engine } = await inTheMiddle();
    const checkpoint = await engine.checkpoints.show("r");
    const json = checkpointToJson(checkpoint, { memoryPeakMb: 512.3 });
    expect(JSON.parse(JSON.stringify(json))).toEqual(json);
    const iso = new Date(checkpoint.decisions[0]?.at ?? 0).toISOString();
    expect(json).toEqual({
      version: "1.0",
      checkpoint_id: checkpoint.id,
      workflow_id: "r",
      timestamp: new Date(checkpoint.at).toISOString(),
      phase: 4,
      status: "in_progress",
      resumable: true,
      agents: {
        mercury: {
          agent_type: null,
          status: "active",
          confidence: 0.73,
          last_decision: "workflow_adjustment",
          output_ref: null,
          blockers: ["data"],
          state: "AQL/",
        },
        review: {
          agent_type: null,
          status: "completed",
          confidence: 0.9,
          last_decision: null,
          output_ref: `${checkpoint.id}#/steps/review`,
          blockers: [],
          state: btoa('{"notes":2}'),
        },
      },
      decisions: [
        {
          timestamp: iso,
          agent: "mercury",
          type: "workflow_adjustment",
          description: "one more specialist",
          rationale: "confidence is low",
          confidence: 0.73,
          alternatives_considered: ["ask a person"],
        },
      ],
      metrics: {
        elapsed_time: checkpoint.metrics.elapsedMs / 1_000,
        api_calls: 4,
        tokens_used: 100,
        memory_peak: 512.3,
      },
      outputs: ["load", "score", "review"].map((step) => ({
        agent: null,
        subtask: step,
        ref: `${checkpoint.id}#/steps/${step}`,
      })),
      confidence: { overall: 0.815, agents: { mercury: 0.73, review: 0.9 } },
      state: { phase: "write" },
    });
    expect(checkpointToJson(checkpoint).metrics.memory_peak).toBeNull();
  });

  it("says how a run stands in its words", async () => {
    const { lab, engine } = await inTheMiddle();
    const status = async () => checkpointToJson(await engine.checkpoints.show("r")).status;
    await lab.drive(engine.cancel("r"));
    expect(await status()).toBe("cancelled");
  });
});
