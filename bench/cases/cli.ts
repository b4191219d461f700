import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { workflow } from "holdfast";
import type { CaseReport } from "../run.ts";
import { inFolder, median, withEngine } from "../workbench.ts";

const MAIN = fileURLToPath(new URL("cli/main.js", import.meta.resolve("holdfast")));
const STEPS = 1_000;
const AT_ONCE = 500;

const short = workflow("short", async (ctx, n: number) => ctx.step("work", () => n));

const long = workflow("long", async (ctx) => {
  ctx.plan(["gate"]);
  for (let n = 0; n < STEPS; n++) await ctx.step("step", () => n);
  await ctx.gate("gate", { choices: ["on"] });
});

/** From the start of a process to its end, against a process that does nothing: what somebody waits for who looks at their runs. */
export async function cli({ quick }: { quick: boolean }): Promise<CaseReport> {
  const runs = quick ? 1_000 : 10_000;
  const rounds = quick ? 5 : 15;
  return inFolder(async (folder) => {
    await fill(`${folder}/.holdfast/holdfast.db`, runs);
    const commands = { list: ["list"], "list --needs-me": ["list", "--needs-me"], show: ["show", "long-1"] };
    const times = new Map<string, number[]>([["node -e 0", []]]);
    // In turns, so that whatever else the machine does meets all of them.
    for (let round = 0; round < rounds; round++) {
      times.get("node -e 0")?.push(timed(["-e", "0"], folder));
      for (const [name, args] of Object.entries(commands))
        times.set(name, [...(times.get(name) ?? []), timed([MAIN, ...args], folder)]);
    }
    const ms = (name: string): number => median(times.get(name) ?? []);
    const bare = ms("node -e 0");
    const names = Object.keys(commands);
    return {
      figures: {
        "ms for node -e 0": bare,
        ...Object.fromEntries(names.map((name) => [`ms for holdfast ${name}, ${runs} runs`, ms(name)])),
        ...Object.fromEntries(names.map((name) => [`holdfast ${name} / node -e 0`, ms(name) / bare])),
      },
      goals: names.map((name) => ({
        goal: `holdfast ${name} in a cold process < 300 ms`,
        measured: ms(name),
        met: ms(name) < 300,
      })),
    };
  });
}

/** Mostly ended runs, and last the one that waits after its thousand steps. */
async function fill(file: string, runs: number): Promise<void> {
  await withEngine(file, [short, long], async (engine) => {
    for (let from = 0; from < runs; from += AT_ONCE)
      await Promise.all(
        Array.from({ length: Math.min(AT_ONCE, runs - from) }, async (_, n) => {
          const { id } = await engine.start(short, from + n);
          await engine.result(id);
        }),
      );
    await engine.start(long, undefined, { id: "long-1" });
    await engine.settled("long-1");
  });
}

function timed(args: readonly string[], cwd: string): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  const ms = performance.now() - start;
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr}`);
  return ms;
}
