import { workflow } from "holdfast";
import type { CaseReport } from "../run.ts";
import { inFolder, payload, quantile, withEngine } from "../workbench.ts";

interface Task {
  taskId: string;
  result: string;
  timestamp: number;
  duration: number;
}

const saves: number[] = [];

/** A state of 1,000 finished tasks, saved whole each time: the worst case, since a loop would save only what changed. */
const checkpoints = workflow("checkpoints", async (ctx, count: number) => {
  const tasks: Task[] = Array.from({ length: 1000 }, (_, n) => ({
    taskId: `task-${n}`,
    result: payload(n).slice(0, 200),
    timestamp: n,
    duration: 12.5,
  }));
  for (let n = 0; n < count; n++) {
    tasks[n % 1000] = {
      taskId: `task-${n}`,
      result: payload(n + 5000).slice(0, 200),
      timestamp: n,
      duration: 1,
    };
    const start = performance.now();
    ctx.memory.set("tasks", tasks);
    await ctx.checkpoint(`layer-${n}`, "phase_completed");
    saves.push(performance.now() - start);
  }
});

export async function save({ quick }: { quick: boolean }): Promise<CaseReport> {
  saves.length = 0;
  await inFolder((folder) =>
    withEngine(`${folder}/save.db`, [checkpoints], async (engine) =>
      engine.result((await engine.start(checkpoints, quick ? 50 : 200)).id),
    ),
  );
  const p95 = quantile(saves, 0.95);
  return {
    figures: {
      "save of a 1,000-task state, p50 ms": quantile(saves, 0.5),
      "save of a 1,000-task state, p95 ms": p95,
    },
    goals: [{ goal: "1,000-task save p95 ≤ 50 ms", measured: p95, met: p95 <= 50 }],
  };
}
