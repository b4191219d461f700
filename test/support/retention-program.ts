import fc from "fast-check";
import { type Context, type Workflow, workflow } from "../../src/index.ts";
import { hangs } from "./lab.ts";

/** What one turn of a generated loop does, one thing after the other. */
export type Op =
  | { readonly op: "step" | "object"; readonly size: number; readonly same: boolean }
  | { readonly op: "memory"; readonly key: string; readonly size: number }
  | { readonly op: "forget" | "agent"; readonly key: string }
  | { readonly op: "fail" | "decide" | "inbox" | "each" | "pause" }
  | { readonly op: "phase"; readonly key: string }
  | { readonly op: "inner"; readonly turns: number; readonly size: number };

export interface Program {
  readonly before: readonly Op[];
  readonly body: readonly Op[];
  readonly after: readonly Op[];
  readonly turns: number;
  /** The turns in which it stands still until somebody answers, or until its worker has died. */
  readonly stops: readonly { readonly turn: number; readonly kind: "gate" | "crash" }[];
}

const size = fc.constantFrom(5, 300, 900, 1_100, 4_000, 9_500);
const key = fc.constantFrom("a", "b", "c");
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ op: fc.constantFrom("step", "object"), size, same: fc.boolean() }),
  fc.record({ op: fc.constant("memory"), key, size }),
  fc.record({ op: fc.constantFrom("forget", "agent"), key }),
  fc.record({ op: fc.constantFrom("fail", "decide", "inbox", "each", "pause") }),
  fc.record({ op: fc.constant("phase"), key }),
  fc.record({ op: fc.constant("inner"), turns: fc.integer({ min: 1, max: 3 }), size }),
) as fc.Arbitrary<Op>;

/** Programs that are long enough for several snapshots. */
export const programs: fc.Arbitrary<Program> = fc.record({
  before: fc.array(op, { maxLength: 3 }),
  body: fc.array(op, { minLength: 1, maxLength: 4 }),
  after: fc.array(op, { maxLength: 2 }),
  turns: fc.integer({ min: 40, max: 60 }),
  stops: fc.uniqueArray(
    fc.record({ turn: fc.integer({ min: 1, max: 39 }), kind: fc.constantFrom("gate", "crash") }),
    { minLength: 1, maxLength: 3, selector: ({ turn }) => turn },
  ),
});

interface Log {
  lines: string[];
  total: number;
}

const text = (length: number, mark: string): string => `${mark}:${"x".repeat(length)}`;

async function perform(ctx: Context, one: Op, index: number): Promise<string> {
  switch (one.op) {
    case "step":
      return ctx.step("step", ({ step }) => text(one.size, one.same ? "same" : step));
    case "object":
      return (
        await ctx.step("object", ({ step }) => ({ n: index, at: [text(one.size, one.same ? "" : step)] }))
      ).at.join();
    case "memory":
      ctx.memory.set(one.key, { index, text: text(one.size, one.key) });
      return ctx.memory.keys().join();
    case "forget":
      ctx.memory.delete(one.key);
      return ctx.memory.keys().join();
    case "agent":
      ctx.agent(one.key, { status: "busy", state: { index } });
      return "agent";
    case "fail":
      return ctx
        .step("fail", ({ step }) => Promise.reject(new Error(text(700, step))), { retry: false })
        .catch((error: Error) => error.message);
    case "decide":
      ctx.decide({ description: text(200, `choice ${index}`) });
      return "decide";
    case "inbox":
      return (await ctx.inbox<string>("news")).map(({ payload }) => payload.slice(0, 20)).join();
    case "each":
      return (await ctx.each("item", [1, 2], (item) => text(600, `${item}`))).join();
    case "pause":
      await ctx.sleep("pause", 5);
      return "pause";
    case "phase":
      return (await ctx.checkpoint(one.key, "phase_started")).slice(0, 2);
    case "inner": {
      const state = await ctx.loop("inner", { n: 0, text: "" }, async (draft, turn) => {
        draft.text = await ctx.step("deep", ({ step }) => text(one.size, step));
        draft.n += draft.text.length;
        return turn.index === one.turns - 1 ? turn.done() : undefined;
      });
      return `${state.n}${state.text}`;
    }
  }
}

/** The program as a workflow. Its `crash` stops hang once each, in whatever process comes there first. */
export function compile(program: Program): Workflow<string, unknown> {
  const hung = new Set<number>();
  const stop = async (ctx: Context, turn: number): Promise<string> => {
    const at = program.stops.find((one) => one.turn === turn);
    if (at?.kind === "gate")
      return (await ctx.gate("stop", { show: text(2_000, "gate"), choices: ["go"] })).choice;
    if (at) await ctx.step("hang", () => (hung.has(turn) ? "gone on" : (hung.add(turn), hangs())));
    return "";
  };
  const all = async (ctx: Context, ops: readonly Op[], log: Log, index: number): Promise<void> => {
    for (const one of ops) {
      const line = await perform(ctx, one, index);
      log.total += line.length;
      log.lines = [...log.lines.slice(-3), line];
    }
  };
  return workflow("program", async (ctx, input: string) => {
    const log: Log = { lines: [input], total: 0 };
    await all(ctx, program.before, log, -1);
    const end = await ctx.loop("turn", { lines: log.lines, total: log.total } as Log, async (draft, turn) => {
      await all(ctx, program.body, draft, turn.index);
      draft.lines = [...draft.lines.slice(-3), await stop(ctx, turn.index)];
      return turn.index === program.turns - 1 ? turn.done() : undefined;
    });
    const last: Log = { ...end };
    await all(ctx, program.after, last, -2);
    return { ...last, memory: ctx.memory.keys().map((name) => [name, ctx.memory.get(name)]) };
  });
}
