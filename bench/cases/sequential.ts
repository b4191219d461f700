import { createEngine, workflow } from "holdfast";
import type { CaseReport } from "../run.ts";
import {
  createNullStore,
  fileBytes,
  inFolder,
  median,
  payload,
  rawCommits,
  withEngine,
} from "../workbench.ts";

const steps = workflow("steps", async (ctx, count: number) => {
  for (let n = 0; n < count; n++) await ctx.step("step", () => payload(n));
});

/** One run, one step after the other: raw commits and the engine in turn, so that the ratio holds. */
export async function sequential({ quick }: { quick: boolean }): Promise<CaseReport> {
  const rounds = quick ? 3 : 7;
  const count = quick ? 1_000 : 3_000;
  return inFolder(async (folder) => {
    const file = `${folder}/steps.db`;
    const raw: number[] = [];
    const ours: number[] = [];
    const ratios: number[] = [];
    let flushes = 0;
    await withEngine(file, [steps], async (engine) => {
      await engine.result((await engine.start(steps, 500)).id);
      for (let round = 0; round < rounds; round++) {
        raw.push(await rawCommits(`${folder}/raw-${round}.db`, count));
        const before = engine.flushes;
        const start = performance.now();
        await engine.result((await engine.start(steps, count)).id);
        ours.push((count / (performance.now() - start)) * 1000);
        flushes += engine.flushes - before;
        ratios.push((ours.at(-1) as number) / (raw.at(-1) as number));
      }
    });
    const perStep = flushes / (rounds * count);
    const ratio = median(ratios);
    const cpu = await engineMicros(10_000);
    return {
      figures: {
        "raw one-row commits/s": median(raw),
        "durable steps/s": median(ours),
        "flushes per step": perStep,
        "bytes per step (2 KiB values)": fileBytes(file) / (rounds * count + 500),
        "engine CPU time per step, µs": cpu,
      },
      goals: [
        { goal: "sequential steps ≥ 0.8 of raw one-row commits", measured: ratio, met: ratio >= 0.8 },
        { goal: "flushes per sequential step ≤ 1.05", measured: perStep, met: perStep <= 1.05 },
        { goal: "engine time per step ≤ 30 µs", measured: cpu, met: cpu <= 30 },
      ],
    };
  });
}

/** What the engine itself costs: the same steps on a store that does nothing. */
async function engineMicros(count: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 9; round++) {
    const engine = createEngine({ store: createNullStore(), workflows: [steps] });
    const start = process.cpuUsage();
    await engine.result((await engine.start(steps, count)).id);
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / count);
    await engine.close();
  }
  return median(times);
}
