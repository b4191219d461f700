import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { CaseReport } from "../run.ts";
import { inFolder, median, quantile } from "../workbench.ts";

/** Steps of 20 ms; each says when it begins. Claims have their default length. */
const FLOW = `
import { setTimeout } from "node:timers/promises";
import { createEngine, workflow } from "${import.meta.resolve("holdfast")}";
import { openSqliteStore } from "${import.meta.resolve("holdfast/stores/sqlite")}";
const flow = workflow("flow", async (ctx) => {
  for (let n = 0; n < 100_000; n++)
    await ctx.step("step", async () => { console.log("step"); await setTimeout(20); });
});
const [, , file, mode] = process.argv;
const engine = createEngine({ store: await openSqliteStore({ file }), workflows: [flow] });
console.log("ready");
if (mode === "start") await engine.start(flow, undefined, { id: "r" });
else if (mode === "beside") await engine.work();
else await engine.recover();
`;

interface Worker {
  readonly child: ChildProcess;
  /** Resolves when it says this the next time. */
  says(word: string): Promise<void>;
}

function start(script: string, file: string, mode: string): Worker {
  const child = spawn(process.execPath, [script, file, mode], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const says = (word: string): Promise<void> =>
    new Promise((resolve) => {
      const hear = (line: string): void => {
        if (line !== word) return;
        lines.off("line", hear);
        resolve();
      };
      lines.on("line", hear);
    });
  return { child, says };
}

/** From `kill -9` to the next step on the same machine: in a process started then, and in one that was there before. */
export async function takeover({ quick }: { quick: boolean }): Promise<CaseReport> {
  const rounds = quick ? 3 : 15;
  const [fresh, beside, bare]: number[][] = [[], [], []];
  await inFolder(async (folder) => {
    const script = join(folder, "flow.mjs");
    writeFileSync(script, FLOW);
    for (let round = 0; round < rounds; round++) {
      fresh?.push(await killed(script, join(folder, `fresh-${round}.db`), false));
      beside?.push(await killed(script, join(folder, `beside-${round}.db`), true));
      const before = performance.now();
      await once(spawn(process.execPath, ["-e", "0"]), "exit");
      bare?.push(performance.now() - before);
    }
  });
  const ms = median(fresh ?? []);
  return {
    figures: {
      "ms from kill -9 to the next step, new process": ms,
      "the same, p95": quantile(fresh ?? [], 0.95),
      "ms from kill -9 to the next step, process beside it": median(beside ?? []),
      "ms for node -e 0": median(bare ?? []),
    },
    goals: [{ goal: "kill -9 to the next step, new process ≤ 500 ms", measured: ms, met: ms <= 500 }],
  };
}

async function killed(script: string, file: string, isBeside: boolean): Promise<number> {
  const first = start(script, file, "start");
  await first.says("step");
  const second = isBeside ? start(script, file, "beside") : undefined;
  await second?.says("ready");
  if (second) await new Promise((resolve) => setTimeout(resolve, 2_000));
  const before = performance.now();
  first.child.kill("SIGKILL");
  const next = second ?? start(script, file, "recover");
  await next.says("step");
  const ms = performance.now() - before;
  next.child.kill("SIGKILL");
  await once(next.child, "exit");
  return ms;
}
