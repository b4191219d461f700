import { workflow } from "holdfast";
import type { CaseReport } from "../run.ts";
import { inFolder, median, payload, withEngine } from "../workbench.ts";

const ten = workflow("ten", async (ctx, run: number) => {
  for (let n = 0; n < 10; n++) await ctx.step("step", () => payload(run * 10 + n));
});

/** Runs of ten steps side by side: what group commit gives. */
export async function concurrent({ quick }: { quick: boolean }): Promise<CaseReport> {
  const figures: Record<string, number> = {};
  let syncsAt100 = Number.NaN;
  const rounds = quick ? 2 : 5;
  await inFolder((folder) =>
    withEngine(`${folder}/runs.db`, [ten], async (engine) => {
      for (const width of [1, 16, 100, 1000]) {
        const rates: number[] = [];
        const flushes: number[] = [];
        for (let round = 0; round < rounds; round++) {
          const runs = Math.max(width, quick ? 50 : 200);
          const before = engine.flushes;
          const start = performance.now();
          let next = 0;
          const lane = async () => {
            while (next < runs) await engine.result((await engine.start(ten, next++)).id);
          };
          await Promise.all(Array.from({ length: width }, lane));
          rates.push(((runs * 10) / (performance.now() - start)) * 1000);
          flushes.push((engine.flushes - before) / (runs * 10));
        }
        figures[`steps/s, ${width} runs at once`] = median(rates);
        figures[`flushes per step, ${width} runs at once`] = median(flushes);
        if (width === 100) syncsAt100 = median(flushes);
      }
    }),
  );
  return {
    figures,
    goals: [{ goal: "flushes per step at 100 runs ≤ 0.1", measured: syncsAt100, met: syncsAt100 <= 0.1 }],
  };
}
