import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { type AgentResult, type AgentSpec, runAgent } from "./agent/index.ts";
import { type DAGOutcome, dagWorkflow } from "./dag/index.ts";
import type { Context, Engine, RunHandle, Settled, StandardSchema } from "./index.ts";
import { workflow } from "./index.ts";
import type { TypedContext } from "./manage.ts";
import {
  type Agent,
  agentWorkflow,
  defineTeam,
  type PhaseTeamResult,
  type AgentResult as TeamAgentResult,
  type TeamResult,
} from "./team/index.ts";

/**
 * What the compiler infers, so that a change that loses a type fails here. Nothing is run: `tsc` is the judge, and every
 * `@ts-expect-error` must be one.
 */
const comment = z.object({ by: z.string(), stars: z.number().default(5) });
const plain = workflow("plain", async (ctx, input: { n: number }) => ctx.step("s", () => `${input.n}`));
const typed = workflow(
  "typed",
  {
    version: "2",
    input: z.object({ due: z.coerce.date() }),
    output: z.string().transform((text) => text.length),
    signals: { comment, stop: z.undefined(), seen: z.boolean() },
    memory: { draft: z.string(), total: z.number() },
  },
  async (ctx, input) => {
    expectTypeOf(input.due).toEqualTypeOf<Date>();
    const one = await ctx.signal("comment");
    expectTypeOf(one.payload).toEqualTypeOf<{ by: string; stars: number }>();
    const any = await ctx.signal("comment", { or: ["stop"], timeoutMs: 5 });
    if (any.name === "comment") expectTypeOf(any.payload.stars).toEqualTypeOf<number>();
    else expectTypeOf(any.payload).toEqualTypeOf<undefined>();
    expectTypeOf(await ctx.inbox("seen"))
      .items.toHaveProperty("payload")
      .toEqualTypeOf<boolean>();
    expectTypeOf(await ctx.inbox())
      .items.toHaveProperty("payload")
      .toEqualTypeOf<unknown>();
    // @ts-expect-error: no such signal
    void ctx.signal("coment");
    // @ts-expect-error: nor beside another
    void ctx.signal("comment", { or: ["coment"] });
    expectTypeOf(ctx.memory.get("draft")).toEqualTypeOf<string | undefined>();
    expectTypeOf(ctx.memory.keys()).items.toEqualTypeOf<"draft" | "total">();
    ctx.memory.set("total", 7);
    // @ts-expect-error: a number is wanted
    ctx.memory.set("total", "7");
    // @ts-expect-error: no such key
    ctx.memory.get("drafts");
    expectTypeOf(ctx).toExtend<Context>();
    return "text";
  },
);

const open = async (engine: Engine): Promise<void> => {
  const run = await engine.start(typed, { due: "2026-01-01" });
  expectTypeOf(run.result).returns.resolves.toEqualTypeOf<number>();
  void run.signal("comment", { by: "ada" });
  void run.signal("stop");
  void run.signal("seen", true, { actor: "ada" });
  // @ts-expect-error: a payload is wanted
  void run.signal("comment");
  // @ts-expect-error: not this one
  void run.signal("seen", "yes");
  // @ts-expect-error: no such signal
  void run.signal("saw", true);
  void engine.run(typed, "r").signal("comment", { by: "ada", stars: 1 });
  // @ts-expect-error: an object is wanted
  void engine.start(typed, "now");
  const other = await engine.start(plain, { n: 1 });
  expectTypeOf(other).toEqualTypeOf<RunHandle<string>>();
  void other.signal("anything", { at: "all" });
  void other.signal("anything");
  // @ts-expect-error: a number is wanted
  void engine.start(plain, { n: "1" });
  engine.register(typed);
  expectTypeOf([typed, plain]).toExtend<Parameters<Engine["register"]>[0][]>();
  // @ts-expect-error: no such event
  engine.on("step_finished", () => undefined);
  engine.on("step_completed", ({ step }) => expectTypeOf(step).toEqualTypeOf<string>());
};

const answers = async (ctx: Context): Promise<void> => {
  const bare = await ctx.gate("g", { choices: ["yes", "no"] });
  expectTypeOf(bare.choice).toEqualTypeOf<"yes" | "no">();
  expectTypeOf(bare.data).toEqualTypeOf<unknown>();
  const full = await ctx.gate("g", { choices: ["yes", "no"], data: comment });
  expectTypeOf(full.choice).toEqualTypeOf<"yes" | "no">();
  expectTypeOf(full.data).toEqualTypeOf<{ by: string; stars: number }>();
  // @ts-expect-error: not a choice
  void ctx.gate("g", { choices: ["yes"], onTimeout: { choice: "maybe" } });
  // @ts-expect-error: not a schema
  void ctx.gate("g", { choices: ["yes"], data: String });
};

const steps = async (ctx: Context): Promise<void> => {
  expectTypeOf(await ctx.step("s", () => 1)).toEqualTypeOf<number>();
  expectTypeOf(await ctx.step("s", async () => new Date())).toEqualTypeOf<Date>();
  expectTypeOf(await ctx.each("e", ["a"], (item, index) => ({ item, index }))).toEqualTypeOf<
    { item: string; index: number }[]
  >();
  expectTypeOf(await ctx.each("e", [1], () => "x", { failure: "continue" })).toEqualTypeOf<
    Settled<string>[]
  >();
  const named = await ctx.all("a", { one: () => 1, two: async () => "2" });
  expectTypeOf(named).toEqualTypeOf<{ one: number; two: string }>();
  const listed = await ctx.all("a", [() => 1, () => true] as const, { failure: "quorum", quorum: 1 });
  expectTypeOf(listed).toEqualTypeOf<[Settled<number>, Settled<boolean>]>();
  expectTypeOf(await ctx.loop("l", { n: 0 }, (state) => void state.n++)).toEqualTypeOf<{ n: number }>();
  expectTypeOf(await ctx.child("c", plain, { n: 1 })).toEqualTypeOf<string>();
  expectTypeOf(await ctx.child("c", typed, { due: 0 })).toEqualTypeOf<number>();
  // @ts-expect-error: a number is wanted
  void ctx.child("c", plain, {});
};

const others = async (
  ctx: Context,
  engine: Engine,
  spec: AgentSpec,
  agents: readonly Agent[],
): Promise<void> => {
  expectTypeOf(await runAgent<{ total: number }>(ctx, "a", spec)).toEqualTypeOf<
    AgentResult<{ total: number }>
  >();
  const dag = await engine.start(dagWorkflow("d", { tools: {} }), undefined);
  expectTypeOf(dag).toEqualTypeOf<RunHandle<DAGOutcome>>();
  const [agent] = agents;
  if (!agent) return;
  const one = await engine.start(agentWorkflow(agent), { analysis_id: "a", stock_ticker: "X" });
  expectTypeOf(one).toEqualTypeOf<RunHandle<TeamAgentResult>>();
  const team = await engine.start(defineTeam({ name: "t", agents }), { analysis_id: "a", stock_ticker: "X" });
  expectTypeOf(team).toEqualTypeOf<RunHandle<TeamResult>>();
  const phases = defineTeam({ name: "p", phases: [{ name: "research", specialists: agents }] });
  expectTypeOf(phases.body).returns.resolves.toEqualTypeOf<PhaseTeamResult>();
};

describe("the types of the public API", () => {
  it("carry from schemas and functions to results, signals, memory and gates", () => {
    expectTypeOf(open).toBeFunction();
    expectTypeOf(answers).toBeFunction();
    expectTypeOf(steps).toBeFunction();
    expectTypeOf<TypedContext<{ a: StandardSchema<string> }>>().toExtend<Context>();
    expectTypeOf(others).toBeFunction();
  });
});
