import { workflow } from "holdfast";
import type { CaseReport, Goal } from "../run.ts";
import { inFolder, median, payload, withEngine } from "../workbench.ts";

let firstNewStep = 0;

const long = workflow("long", async (ctx, count: number) => {
  for (let n = 0; n < count; n++) await ctx.step("step", () => payload(n));
  await ctx.gate("go", { choices: ["on"] });
  await ctx.step("new", () => {
    firstNewStep = performance.now();
  });
});

const looping = workflow("looping", async (ctx, count: number) => {
  await ctx.loop("turn", { sum: 0 }, (state, turn) => {
    state.sum += turn.index;
    return turn.index === count - 1 ? turn.done() : undefined;
  });
  await ctx.gate("go", { choices: ["on"] });
  await ctx.step("new", () => {
    firstNewStep = performance.now();
  });
});

/** From the moment a fresh engine is asked to recover a run to the first step that had not run before. */
export async function resume({ quick }: { quick: boolean }): Promise<CaseReport> {
  const figures: Record<string, number> = {};
  const goals: Goal[] = [];
  for (const [count, limit] of quick
    ? ([
        [1_000, 100],
        [10_000, 80],
      ] as const)
    : ([
        [1_000, 100],
        [10_000, 80],
        [100_000, 800],
      ] as const)) {
    const ms = await measure(long, count, count > 50_000 ? 2 : 5);
    figures[`ms to the first new step, ${count} finished steps`] = ms;
    if (count >= 10_000)
      goals.push({
        goal: `resume with ${count} finished steps ≤ ${limit} ms`,
        measured: ms,
        met: ms <= limit,
      });
  }
  const turns = quick ? 10_000 : 100_000;
  const ms = await measure(looping, turns, 2);
  figures[`ms to the first new step, loop at iteration ${turns}`] = ms;
  goals.push({ goal: `resume of a loop at iteration ${turns} ≤ 50 ms`, measured: ms, met: ms <= 50 });
  return { figures, goals };
}

function measure(flow: typeof long, count: number, rounds: number): Promise<number> {
  return inFolder(async (folder) => {
    const file = `${folder}/resume.db`;
    const ids = Array.from({ length: rounds }, (_, n) => `run-${n}`);
    await withEngine(file, [flow], async (engine) => {
      for (const id of ids) {
        await engine.start(flow, count, { id });
        await engine.settled(id);
      }
    });
    const times: number[] = [];
    for (const id of ids) {
      await withEngine(file, [], async (client) => client.answer(id, "go", { choice: "on" }), {
        execute: false,
      });
      await withEngine(file, [flow], async (engine) => {
        const start = performance.now();
        await engine.recover();
        await engine.result(id);
        times.push(firstNewStep - start);
      });
    }
    return median(times);
  });
}
