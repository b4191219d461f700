import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { workflow } from "../../src/index.ts";

/** What the outside world has seen: one line for each call that began and each effect that happened. */
export interface Seen {
  readonly at: number;
  readonly pid: number;
  readonly run: string;
  readonly step: string;
  readonly what: "begin" | "effect";
  readonly attempt: number;
  readonly epoch: number;
}

/** The name of a worker in its claims. */
export const ownerOf = (pid: number): string => `worker-${pid}`;

const file = (): string => process.env["HOLDFAST_WITNESS"] ?? "";

/** A file that outlives every process here; a line is one write, so lines are never torn. */
export function readSeen(place: string = file()): Seen[] {
  const lines = readFileSync(place, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Seen);
}

interface Call {
  readonly runId: string;
  readonly step: string;
  readonly attempt: number;
  readonly epoch: number;
}

const see = (what: Seen["what"], { runId, step, attempt, epoch }: Call): void => {
  const line: Seen = { at: Date.now(), pid: process.pid, run: runId, step, what, attempt, epoch };
  appendFileSync(file(), `${JSON.stringify(line)}\n`);
};

const work =
  <T>(ms: number, value: T) =>
  async (call: Call): Promise<T> => {
    see("begin", call);
    await delay(ms);
    see("effect", call);
    return value;
  };

/** The world knows whether it happened. */
const verify = (call: Call) => {
  const isDone = readSeen().some(
    ({ run, step, what }) => what === "effect" && run === call.runId && step === call.step,
  );
  return isDone ? { status: "done" as const, value: "found" } : { status: "not-done" as const };
};

/** A job with every class of effect, groups, a loop, nested steps, a child and a timer, in a few seconds. */
const part = workflow("part", async (ctx, n: number) => ctx.step("part", work(60, n)));

export const job = workflow("job", { children: [part] }, async (ctx, size: number) => {
  await ctx.step("begin", work(50, 1));
  const lines = await ctx.each(
    "line",
    Array.from({ length: size }, (_, n) => n),
    (item, _, call) => work(80, item)(call),
    { concurrency: 3 },
  );
  await ctx.step("order", work(120, "ordered"), { effect: "once", verify });
  const outer = await ctx.step("outer", () => ctx.step("inner", work(60, 2)));
  const state = await ctx.loop("turn", { sum: 0 }, async (draft, turn) => {
    draft.sum += await ctx.step("model", work(50, 1));
    await ctx.step("tool", work(50, "used"), { effect: "once", verify });
    return turn.index >= size - 1 ? turn.done() : undefined;
  });
  const child = await ctx.child("part", part, 3);
  await ctx.sleep("nap", 100);
  await ctx.step("pay", work(80, "paid"), { effect: "keyed" });
  return { lines: lines.length, outer, sum: state.sum, child };
});
