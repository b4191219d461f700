import { createEngine, workflow } from "holdfast";
import { createMemoryStore } from "holdfast/stores/memory";
import type { CaseReport, Goal } from "../run.ts";
import { inFolder, median, withEngine } from "../workbench.ts";

/** An agent of so many iterations; each calls a model once, for so much. */
const ITERATIONS = 20;
const USD = 0.01;
/** How long a model takes to answer, which no store shortens. */
const MODEL_MS = 1_000;

/** A seeded number from 0 to 1. */
function dice(seed: number): () => number {
  let state = Math.imul(seed + 1, 2_654_435_761) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Agent {
  readonly name: string;
  /** The iterations in which it fails once: the call is paid, and its answer lost. */
  readonly fails: Set<number>;
}

let current: Agent = { name: "", fails: new Set() };

const agent = workflow("agent", async (ctx) => {
  await ctx.loop("turns", { turn: 0 }, async (state, turn) => {
    const ask = (): void => {
      ctx.usage({ tokens: 1_000, costUsd: USD, model: "m" });
      if (current.fails.delete(turn.index)) throw new Error("the answer is lost");
    };
    await ctx.step("model", ask, { retry: false });
    state.turn = turn.index + 1;
    return state.turn < ITERATIONS ? undefined : turn.done();
  });
});

/** What runs cost when each failure is followed by a resume, and when by a new start, ÷ what they cost without failures. */
async function spend(
  rate: number,
  per: "run" | "call",
  runs: number,
): Promise<{ recovered: number; anew: number }> {
  const store = createMemoryStore();
  const engine = createEngine({ store, workflows: [agent], recovery: { maxAttempts: 1_000 } });
  const roll = dice(Math.round(rate * 1_000) + (per === "run" ? 1 : 2));
  let restarts = 0;
  for (let run = 0; run < runs; run++) {
    const fails = failuresOf(rate, per, roll);
    const id = `r${run}`;
    current = { name: id, fails: new Set(fails) };
    await engine.start(agent, undefined, { id });
    while ((await engine.settled(id)).status === "failed") await engine.resume(id);
    restarts += anewOf(rate, per, roll, fails);
  }
  const { total } = await engine.reports.costs();
  await engine.close();
  const alone = runs * ITERATIONS * USD;
  return { recovered: (total.costUsd ?? Number.NaN) / alone, anew: (alone + restarts * USD) / alone };
}

/** The iterations in which a run fails: once in this share of runs, or at each call with this chance. */
function failuresOf(rate: number, per: "run" | "call", roll: () => number): number[] {
  if (per === "run") return roll() < rate ? [Math.floor(roll() * ITERATIONS)] : [];
  return Array.from({ length: ITERATIONS }, (_, index) => index).filter(() => roll() < rate);
}

/** The calls that a run without recovery pays for besides its own: everything up to each failure. */
function anewOf(rate: number, per: "run" | "call", roll: () => number, first: readonly number[]): number {
  if (per === "run") return first.reduce((sum, at) => sum + at + 1, 0);
  let wasted = 0;
  // Each new start runs the same risk again.
  for (let at = 0; at < ITERATIONS; at++)
    if (roll() < rate) {
      wasted += at + 1;
      at = -1;
    }
  return wasted;
}

/** What writing checkpoints adds to an iteration whose model takes a second: time at the store, SQLite with full sync. */
async function overhead(runs: number): Promise<number> {
  return inFolder((folder) =>
    withEngine(`${folder}/cost.db`, [agent], async (engine) => {
      const times: number[] = [];
      for (let run = 0; run < runs; run++) {
        current = { name: "", fails: new Set() };
        const start = performance.now();
        await engine.result((await engine.start(agent, undefined)).id);
        times.push((performance.now() - start) / ITERATIONS);
      }
      return median(times) / MODEL_MS;
    }),
  );
}

/** The targets of S1-66: what recovery costs where nothing fails, and what it saves where something does. */
export async function cost({ quick }: { quick: boolean }): Promise<CaseReport> {
  const runs = quick ? 200 : 500;
  const figures: Record<string, number> = {};
  const of = async (rate: number, per: "run" | "call") => {
    const { recovered, anew } = await spend(rate, per, runs);
    const name = `${rate * 100} % of ${per}s fail`;
    figures[`${name}: with recovery ÷ no failures`] = recovered;
    figures[`${name}: started anew ÷ no failures`] = anew;
    return { recovered, anew, ratio: recovered / anew };
  };
  const none = await of(0, "run");
  const [fiveRuns, tenRuns] = [await of(0.05, "run"), await of(0.1, "run")];
  const [fiveCalls, tenCalls] = [await of(0.05, "call"), await of(0.1, "call")];
  const writes = await overhead(quick ? 5 : 30);
  figures["checkpoints: share of an iteration of one second"] = writes;
  figures["5 % of runs: with recovery ÷ started anew"] = fiveRuns.ratio;
  figures["10 % of runs: with recovery ÷ started anew"] = tenRuns.ratio;
  figures["5 % of calls: with recovery ÷ started anew"] = fiveCalls.ratio;
  figures["10 % of calls: with recovery ÷ started anew"] = tenCalls.ratio;
  const goal = (text: string, measured: number, met: boolean): Goal => ({ goal: text, measured, met });
  return {
    figures,
    goals: [
      goal(
        "nothing fails: money ≤ 1.05, checkpoints ≤ 5 % of the time",
        none.recovered + writes,
        none.recovered + writes <= 1.05,
      ),
      goal(
        "5 % of runs fail: recovery + checkpoints ÷ starting anew ≤ 1",
        fiveRuns.ratio + writes,
        fiveRuns.ratio + writes <= 1,
      ),
      goal("10 % of calls fail: recovery ÷ starting anew ≤ 0.5", tenCalls.ratio, tenCalls.ratio <= 0.5),
    ],
  };
}
