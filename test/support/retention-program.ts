import fc from "fast-check";
import { type Context, type Workflow, workflow } from "../../src/index.ts";
import { hangs } from "./lab.ts";

/** The run of a program; forks of it do not hang. */
export const RUN = "r";

/** The actions of one turn of a generated loop, in order. */
export type Op =
  | { readonly op: "step" | "object"; readonly size: number; readonly same: boolean }
  | { readonly op: "memory"; readonly key: string; readonly size: number }
  | { readonly op: "forget" | "agent"; readonly key: string }
  | { readonly op: "fail" | "decide" | "inbox" | "each" | "pause" }
  | { readonly op: "phase"; readonly key: string }
  | { readonly op: "child"; readonly size: number }
  | { readonly op: "inner"; readonly turns: number; readonly size: number };

export interface Program {
  readonly before: readonly Op[];
  readonly body: readonly Op[];
  readonly after: readonly Op[];
  readonly turns: number;
  /** The turns in which it stops. */
  readonly stops: readonly { readonly turn: number; readonly kind: Stop }[];
}

/**
 * `gate`: until a person answers. `crash`: until its worker has died. `doubt`: until its worker has died in a call with
 * an unknown outcome, and a person has resolved it. `child`: until a person answers a run below it.
 */
export type Stop = "gate" | "crash" | "doubt" | "child";

const size = fc.constantFrom(5, 300, 900, 1_100, 4_000, 9_500, 40_000);
const key = fc.constantFrom("a", "b", "c");
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ op: fc.constantFrom("step", "object"), size, same: fc.boolean() }),
  fc.record({ op: fc.constant("memory"), key, size }),
  fc.record({ op: fc.constantFrom("forget", "agent"), key }),
  fc.record({ op: fc.constantFrom("fail", "decide", "inbox", "each", "pause") }),
  fc.record({ op: fc.constant("phase"), key }),
  fc.record({ op: fc.constant("inner"), turns: fc.integer({ min: 1, max: 3 }), size }),
) as fc.Arbitrary<Op>;

/** Too costly for every turn. */
const outside: fc.Arbitrary<Op> = fc.oneof(
  op,
  fc.record({ op: fc.constant("child"), size }) as fc.Arbitrary<Op>,
);

/** Programs long enough for several snapshots, with stops of these kinds. */
export const programs = (kinds: readonly Stop[]): fc.Arbitrary<Program> =>
  fc.record({
    before: fc.array(outside, { maxLength: 3 }),
    body: fc.array(op, { minLength: 1, maxLength: 4 }),
    after: fc.array(outside, { maxLength: 2 }),
    turns: fc.integer({ min: 40, max: 60 }),
    stops: fc.uniqueArray(
      fc.record({ turn: fc.integer({ min: 1, max: 39 }), kind: fc.constantFrom(...kinds) }),
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
    case "child":
      return ctx.child("kid", kid, { size: one.size, asks: false });
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

interface KidInput {
  readonly size: number;
  readonly asks: boolean;
}

const kid = workflow("kid", async (ctx, { size: length, asks }: KidInput) => {
  const first = await ctx.step("first", () => text(length, "first"));
  if (asks) await ctx.gate("stop", { show: text(9_000, "kid"), choices: ["go"] });
  return first + (await ctx.step("second", () => text(length, "second")));
});

export interface Compiled {
  readonly flow: Workflow<string, unknown>;
  /** The workflow, and those of the runs below it. */
  readonly flows: readonly Workflow<never, unknown>[];
  /** The turns in which its own run hung. */
  readonly hung: ReadonlySet<number>;
}

/** Compiles a program to workflows. Its `crash` stops hang once each, in the first process to reach them. */
export function compile(program: Program): Compiled {
  const hung = new Set<number>();
  const stop = async (ctx: Context, turn: number): Promise<string> => {
    const at = program.stops.find((one) => one.turn === turn);
    const once = ({ runId }: { readonly runId: string }) =>
      runId !== RUN || hung.has(turn) ? "gone on" : (hung.add(turn), hangs());
    switch (at?.kind) {
      case "gate":
        return (await ctx.gate("stop", { show: text(2_000, "gate"), choices: ["go"] })).choice;
      case "crash":
        return ctx.step("hang", once);
      case "doubt":
        return ctx.step("pay", once, { effect: "once" });
      case "child":
        return (await ctx.child("asks", kid, { size: 9_500, asks: true })).slice(0, 20);
      default:
        return "";
    }
  };
  const all = async (ctx: Context, ops: readonly Op[], log: Log, index: number): Promise<void> => {
    for (const one of ops) {
      const line = await perform(ctx, one, index);
      log.total += line.length;
      log.lines = [...log.lines.slice(-3), line];
    }
  };
  const flow = workflow("program", async (ctx, input: string) => {
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
  return { flow, flows: [flow, kid], hung };
}
