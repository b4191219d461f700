import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import type { Store } from "holdfast";
import { ControlledExecutor, type DAGStructure, type DAGTask } from "holdfast/dag";
import { openPgliteStore } from "holdfast/stores/pglite";
import { openSqliteStore } from "holdfast/stores/sqlite";
import type { CaseReport, Goal } from "../run.ts";
import { inFolder, quantile, threadMs } from "../workbench.ts";

type Open = (folder: string) => Promise<Store>;
const STORES: Readonly<Record<string, Open>> = {
  sqlite: (folder) => openSqliteStore({ file: path.join(folder, "dag.db") }),
  pglite: (folder) => openPgliteStore({ folder: path.join(folder, "pg") }),
};

const now = (): number => performance.timeOrigin + performance.now();
const RESULT =
  "a sentence of about one hundred characters, such as a task of a research workflow might well give.";

let failing = false;
let [begun, begunThread] = [0, 0];
const tools = {
  work: () => RESULT,
  last: () => {
    [begun, begunThread] = [performance.now(), threadMs()];
    if (failing) throw Object.assign(new Error("not yet"), { retryable: false });
    return "done";
  },
};

/** So many tasks in so many layers; each depends on two of the layer before. */
function layered(tasks: number, layers: number): DAGStructure {
  const width = Math.ceil(tasks / layers);
  return {
    tasks: Array.from({ length: tasks }, (_, n): DAGTask => {
      const layer = Math.floor(n / width);
      const at = (offset: number): string => `task-${(layer - 1) * width + ((n + offset) % width)}`;
      const dependsOn = layer === 0 ? [] : [...new Set([at(0), at(1)])];
      return { id: `task-${n}`, tool: "work", dependsOn };
    }),
  };
}

/** A thousand tasks in one layer, then one after another. */
const longTail = (tail: number): DAGStructure => ({
  tasks: Array.from({ length: 1_000 + tail }, (_, n): DAGTask => {
    const dependsOn = n < 1_000 ? [] : [`task-${n === 1_000 ? 0 : n - 1}`];
    return { id: `task-${n}`, tool: "work", dependsOn };
  }),
});

interface Executed {
  readonly ms: number;
  readonly saves: readonly number[];
  readonly bytes: number;
}

async function execute(open: Open, dag: DAGStructure): Promise<Executed> {
  return inFolder(async (folder) => {
    const store = await open(folder);
    const executor = new ControlledExecutor({ store, tools, now, config: { concurrency: 64 } });
    const saves: number[] = [];
    executor.on("checkpoint_saved", ({ duration }) => saves.push(duration));
    const start = performance.now();
    await executor.execute(dag);
    const ms = performance.now() - start;
    await executor.close();
    await store.close();
    return { ms, saves, bytes: bytesIn(folder) };
  });
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(path.join(folder, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);

interface Resumed {
  readonly ms: number;
  /** The processor time of the thread. */
  readonly thread: number;
}

/** From the call of `resumeFromCheckpoint` on a store just opened to the first task that had not run before. */
async function resumeOne(open: Open, folder: string, id: string): Promise<Resumed> {
  const store = await open(folder);
  const executor = new ControlledExecutor({ store, tools, now });
  const [start, startThread] = [performance.now(), threadMs()];
  await executor.resumeFromCheckpoint(id);
  const resumed = { ms: begun - start, thread: begunThread - startThread };
  await executor.close();
  await store.close();
  return resumed;
}

/** The same as the first thing that a process does. */
function resumeFresh(name: string, folder: string, id: string): Resumed {
  const script = `(await import(${JSON.stringify(import.meta.url)})).printResume(...process.argv.slice(1))`;
  const args = [...process.execArgv, "--input-type=module", "-e", script, name, folder, id];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Resumed;
}

/** @public What that process calls. */
export async function printResume(name: string, folder: string, id: string): Promise<void> {
  process.stdout.write(JSON.stringify(await resumeOne(STORES[name] as Open, folder, id)));
}

/** Resumes of workflows of which a thousand tasks have finished: in this process, and each in one of its own. */
async function resumed(
  name: string,
  open: Open,
  rounds: number,
): Promise<Record<"here" | "fresh", Resumed[]>> {
  return inFolder(async (folder) => {
    const dag = {
      tasks: [...layered(1_000, 10).tasks, { id: "last", tool: "last", dependsOn: ["task-999"] }],
    };
    const ids: string[] = [];
    failing = true;
    const store = await open(folder);
    const first = new ControlledExecutor({ store, tools, now });
    for (let round = 0; round < 2 * rounds; round++) {
      let id = "";
      const off = first.on("checkpoint_saved", ({ checkpoint_id }) => (id = checkpoint_id));
      await first.execute(dag).catch(() => undefined);
      off();
      ids.push(id);
    }
    await first.close();
    await store.close();
    failing = false;
    const here: Resumed[] = [];
    for (const id of ids.slice(rounds)) here.push(await resumeOne(open, folder, id));
    const fresh = ids.slice(0, rounds).map((id) => resumeFresh(name, folder, id));
    return { here, fresh };
  });
}

const p50 = (all: readonly Resumed[], what: keyof Resumed): number =>
  quantile(
    all.map((one) => one[what]),
    0.5,
  );

export async function dag({ quick }: { quick: boolean }): Promise<CaseReport> {
  const figures: Record<string, number> = {};
  const goals: Goal[] = [];
  for (const [name, open] of Object.entries(STORES)) {
    const { saves } = await execute(open, longTail(quick ? 40 : 200));
    const p95 = quantile(saves.slice(1), 0.95);
    figures[`${name}: save with 1,000 tasks, p50 ms`] = quantile(saves.slice(1), 0.5);
    figures[`${name}: save with 1,000 tasks, p95 ms`] = p95;
    goals.push({ goal: `${name}: 1,000-task save p95 < 50 ms`, measured: p95, met: p95 < 50 });
    const { here, fresh } = await resumed(name, open, quick ? 3 : 9);
    const times = here.map(({ ms }) => ms);
    const resume = quantile(times, 0.5);
    figures[`${name}: resume with 1,000 tasks, p50 ms`] = resume;
    figures[`${name}: resume with 1,000 tasks, p95 ms`] = quantile(times, 0.95);
    figures[`${name}: resume with 1,000 tasks, p50 ms of the thread`] = p50(here, "thread");
    figures[`${name}: resume as the first thing in a process, p50 ms`] = p50(fresh, "ms");
    figures[`${name}: resume as the first thing in a process, p50 ms of the thread`] = p50(fresh, "thread");
    goals.push({ goal: `${name}: 1,000-task resume < 100 ms`, measured: resume, met: resume < 100 });
    const ten = await execute(open, layered(100, 10));
    const overhead = ten.saves.reduce((sum, ms) => sum + ms, 0);
    figures[`${name}: ten checkpoints of ten layers, ms`] = overhead;
    goals.push({ goal: `${name}: ten layers ≤ 500 ms`, measured: overhead, met: overhead <= 500 });
    await grow(figures, goals, name, open, quick);
  }
  return { figures, goals };
}

/** Time and bytes for 100, 1,000 and 10,000 tasks: per task they must not grow with their number. */
async function grow(
  figures: Record<string, number>,
  goals: Goal[],
  name: string,
  open: Open,
  quick: boolean,
): Promise<void> {
  const shapes = { "10 layers": () => 10, "one task a layer": (count: number) => count };
  for (const [shape, layers] of Object.entries(shapes)) {
    const found: Record<number, Executed> = {};
    for (const count of quick && shape !== "10 layers" ? [100, 1_000] : [100, 1_000, 10_000]) {
      const executed = await execute(open, layered(count, layers(count)));
      found[count] = executed;
      figures[`${name}: ${count} tasks, ${shape}: ms`] = executed.ms;
      figures[`${name}: ${count} tasks, ${shape}: KB`] = executed.bytes / 1_000;
    }
    const [small, large] = [found[1_000], found[10_000]];
    if (!small || !large) continue;
    const ratio = large.ms / small.ms;
    goals.push({ goal: `${name}: 10 × tasks, ${shape}: ≤ 15 × time`, measured: ratio, met: ratio <= 15 });
  }
}
