import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../test/support/lab.ts";
import { distinct, spanKeeper, treeOf } from "../../../test/support/spans.ts";
import { type Workflow, workflow } from "../../index.ts";
import { openTracing, type TracingOptions } from "../index.ts";

beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
afterAll(() => context.disable());

async function stage(
  workflows: readonly Workflow<never, unknown>[],
  options: TracingOptions = {},
  lab = createLab(),
) {
  const spans = spanKeeper();
  const tracing = await openTracing({ ...options, processor: spans });
  const engine = lab.engine(workflows, { observe: tracing });
  return { lab, spans, tracing, engine };
}

/** Takes a run over in a new process: another engine with tracing of its own. */
async function next(lab: Lab, workflows: readonly Workflow<never, unknown>[]) {
  await lab.clock.advance(60_000);
  const made = await stage(workflows, {}, lab);
  await lab.drive(made.engine.recover());
  return made;
}

describe("the trace of a run", () => {
  const nested = workflow("nested", async (ctx) => {
    await ctx.step("outer", async () => ctx.step("inner", () => 1));
    let tries = 0;
    await ctx.step("shaky", () => (tries++ === 0 ? Promise.reject(new Error("no luck")) : 2), {
      retry: { baseMs: 1 },
    });
    await ctx.step("model", () => ctx.usage({ tokens: 12, costUsd: 0.5, model: "openai/gpt-5" }));
  });

  it("is a tree of its steps, each attempt a span, with what failed (S3-35)", async () => {
    const { lab, engine, spans, tracing } = await stage([nested]);
    await lab.drive(engine.start(nested, undefined, { id: "a" }));
    await lab.drive(engine.result("a"));
    await tracing.flush();
    expect(treeOf(spans.seen())).toEqual([
      "run nested",
      "  outer",
      "    inner",
      "  shaky",
      "  shaky",
      "  chat gpt-5",
    ]);
    const failed = spans.ended.find(({ status }) => status.code === 2);
    expect(failed).toMatchObject({
      name: "shaky",
      status: { message: "no luck" },
      events: [{ name: "exception", attributes: { "exception.type": "Error" } }],
    });
    expect(spans.seen().at(-2)?.attributes).toMatchObject({
      "holdfast.run.id": "a",
      "holdfast.workflow": "nested",
      "holdfast.step": "model",
      "holdfast.step.effect": "repeatable",
      "holdfast.step.attempt": 1,
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "gpt-5",
      "gen_ai.provider.name": "openai",
      "holdfast.usage.tokens": 12,
    });
  });

  it("stays one tree when its workers die and another goes on, with the same ids for the same spans (S3-35)", async () => {
    let deaths = 0;
    const fragile = workflow("fragile", async (ctx) => {
      await ctx.step("first", () => 1);
      await ctx.step("deadly", () => (deaths++ < 3 ? hangs() : 2));
      return ctx.step("last", () => 3);
    });
    const lab = createLab();
    let now = await stage([fragile], {}, lab);
    const all = [now.spans];
    await lab.drive(now.engine.start(fragile, undefined, { id: "a" }));
    await lab.clock.advance(10);
    for (let death = 0; death < 3; death++) {
      await lab.crash(now.engine);
      now = await next(lab, [fragile]);
      all.push(now.spans);
    }
    await lab.drive(now.engine.result("a"));
    await now.tracing.flush();
    const seen = all.flatMap((one) => one.seen());
    expect(seen.length).toBeGreaterThan(distinct(seen).length);
    expect(treeOf(seen).toSorted()).toEqual(
      [
        "run fragile",
        "  first",
        "  deadly",
        "  resume fragile",
        "    deadly",
        "  resume fragile",
        "    deadly",
        "  resume fragile",
        "    deadly",
        "    last",
      ].toSorted(),
    );
    // What only the dead had seen is complete in the last one's export.
    expect(treeOf(now.spans.seen()).length).toBe(10);
    expect(seen.filter(({ attributes }) => attributes["holdfast.run.outcome"] === "completed")).toHaveLength(
      1,
    );
  });

  it("goes on after a pause, and shows a gate as long as it was open, whoever answers", async () => {
    const asks = workflow("asks", async (ctx) => {
      await ctx.step("prepare", () => 1);
      const { choice } = await ctx.gate("approve", { show: {}, choices: ["yes", "no"] });
      return ctx.step("act", () => choice);
    });
    const { lab, engine, spans, tracing } = await stage([asks]);
    await lab.drive(engine.start(asks, undefined, { id: "a" }));
    await lab.drive(engine.settled("a"));
    await lab.drive(engine.close());
    await tracing.flush();
    const outside = lab.engine([], { execute: false });
    await lab.clock.advance(3_600_000);
    await lab.drive(outside.answer("a", "approve", { choice: "yes", actor: "ada" }));
    const later = await next(lab, [asks]);
    await lab.drive(later.engine.result("a"));
    await later.tracing.flush();
    const seen = [...spans.seen(), ...later.spans.seen()];
    expect(treeOf(seen)).toEqual(["run asks", "  prepare", "  approve", "  resume asks", "    act"]);
    const [gate] = later.spans.ended.filter(({ name }) => name === "approve");
    expect(gate).toMatchObject({ attributes: { "holdfast.gate.choice": "yes" } });
    expect((gate?.endTime[0] ?? 0) - (gate?.startTime[0] ?? 0)).toBeGreaterThanOrEqual(3_600);
    expect(JSON.stringify(later.spans.ended)).not.toContain("ada");
  });

  it("continues the caller's trace, holds the children, and is linked from forks", async () => {
    const child = workflow("child", async (ctx) => ctx.step("work", () => 1));
    const parent = workflow("parent", async (ctx) => {
      await ctx.step("before", () => 1);
      return ctx.child("sub", child, undefined);
    });
    const { lab, engine, spans, tracing } = await stage([parent, child]);
    const traceparent = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;
    await lab.drive(engine.start(parent, undefined, { id: "a", traceparent }));
    await lab.drive(engine.result("a"));
    const fork = await lab.drive(engine.fork("a@before", { id: "b" }));
    await lab.drive(engine.result(fork.id));
    await tracing.flush();
    const own = spans.ended.filter((span) => span.spanContext().traceId === "ab".repeat(16));
    const [root] = own.filter(({ name }) => name === "run parent");
    expect(root?.parentSpanContext?.spanId).toBe("cd".repeat(8));
    expect(treeOf(spans.seen().filter(({ traceId }) => traceId === "ab".repeat(16)))).toEqual([
      "run parent",
      "  before",
      "  sub",
      "    run child",
      "      work",
    ]);
    const [forked] = spans.ended.filter(({ attributes }) => attributes["holdfast.run.id"] === "b");
    expect(forked?.spanContext().traceId).not.toBe("ab".repeat(16));
    const [runOfFork] = spans.ended.filter(
      ({ name, attributes }) => name === "run parent" && attributes["holdfast.run.id"] === "b",
    );
    expect(runOfFork?.links).toMatchObject([{ context: root?.spanContext() }]);
    await expect(engine.start(parent, undefined, { traceparent: "nonsense" })).rejects.toThrow("W3C");
  });

  it("is active inside a step, so that spans made there are below it", async () => {
    const inside: (string | undefined)[] = [];
    const calls = workflow("calls", async (ctx) => {
      await ctx.step("call", () => void inside.push(trace.getSpanContext(context.active())?.spanId));
    });
    const { lab, engine, spans, tracing } = await stage([calls]);
    await lab.drive(engine.start(calls, undefined, { id: "a" }));
    await lab.drive(engine.result("a"));
    await tracing.flush();
    expect(inside).toEqual([spans.seen().find(({ name }) => name === "call")?.spanId]);
  });

  it("tells no secrets, and no messages of errors if they are turned off", async () => {
    const leaks = workflow("leaks", async (ctx) => {
      await ctx.step("call", () => Promise.reject(new Error("key sk-live-123 refused")), { retry: false });
    });
    const lab = createLab();
    for (const messages of [true, false]) {
      const spans = spanKeeper();
      const tracing = await openTracing({ processor: spans, messages });
      const engine = lab.engine([leaks], { observe: tracing, redact: { values: ["sk-live-123"] } });
      const id = `a-${messages}`;
      await lab.drive(engine.start(leaks, undefined, { id }));
      await lab.drive(engine.settled(id));
      await tracing.flush();
      const text = JSON.stringify(spans.ended);
      expect(text).not.toContain("sk-live-123");
      if (!messages) expect(text).not.toContain("refused");
      const call = spans.seen().find(({ name }) => name === "call");
      expect(call?.error).toBe(messages ? "key [redacted:value] refused" : "Error");
    }
  });

  it("is exported for the same share of runs by every process", async () => {
    const small = workflow("small", async (ctx) => ctx.step("one", () => 1));
    const lab = createLab();
    const [first, second] = [
      await stage([small], { sample: 0.5 }, lab),
      await stage([small], { sample: 0.5 }, lab),
    ];
    for (let index = 0; index < 40; index++) {
      const { engine } = index % 2 ? first : second;
      await lab.drive(engine.start(small, undefined, { id: `r${index}` }));
      await lab.drive(engine.result(`r${index}`));
    }
    await Promise.all([first.tracing.flush(), second.tracing.flush()]);
    const runs = [...first.spans.seen(), ...second.spans.seen()];
    const traces = new Set(runs.map(({ traceId }) => traceId));
    expect(traces.size).toBeGreaterThan(5);
    expect(traces.size).toBeLessThan(35);
    expect(runs.length).toBe(traces.size * 2);
  });
});
