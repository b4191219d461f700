import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Store } from "../../src/core/store/contract.ts";
import { createEngine, workflow } from "../../src/index.ts";
import { openStore } from "../../src/stores/open.ts";
import { childScript } from "../child-script.ts";
import { Random } from "../simulator/random.ts";
import { type Judgement, judge, type Promised, type WitnessLine } from "./judge.ts";

export interface QueuesOptions {
  readonly processes: number;
  readonly runs: number;
  readonly keys: number;
  readonly kills: number;
  /** How long the work of a run takes. */
  readonly workMs: number;
  readonly promised: Promised;
  /** What the rate counts: the calls of steps, or the runs that are taken up from the queue. */
  readonly rate: "calls" | "runs";
  readonly seed: number;
  /** Default: a new SQLite file. */
  readonly url?: string;
}

export interface QueuesReport extends Judgement {
  readonly runs: number;
  readonly kills: number;
  readonly seconds: number;
}

/** What a worker process is told. */
export interface WorkerPlan extends Pick<QueuesOptions, "workMs" | "promised" | "rate"> {
  readonly url: string;
  readonly file: string;
}

const QUEUE = "orders";

/**
 * Lets worker processes advance the runs of one queue while they are killed and replaced, and judges from what their
 * steps wrote to a file whether the limits of the queue were kept.
 */
export async function queuesUnderKills(options: QueuesOptions): Promise<QueuesReport> {
  const { runs, promised, workMs, rate } = options;
  const folder = mkdtempSync(path.join(tmpdir(), "holdfast-queues-"));
  const url = options.url ?? `sqlite:${path.join(folder, "runs.db")}`;
  const file = path.join(folder, "witness.jsonl");
  writeFileSync(file, "");
  const work = workflow("work", (_, key: string) => Promise.resolve(key));
  const store = await openStore(url);
  const engine = createEngine({ store, workflows: [work], execute: false });
  const crew = new Crew({ url, file, workMs, promised, rate }, options);
  const began = performance.now();
  try {
    const ids = Array.from({ length: runs }, (_, n) => `run-${n}`);
    for (const [n, id] of ids.entries()) {
      const key = `key-${n % options.keys}`;
      await engine.start(work, key, { id, queue: QUEUE, key });
    }
    crew.start();
    await Promise.race([allEnded(store), crew.failed]);
    const seconds = (performance.now() - began) / 1_000;
    const lines = readFileSync(file, "utf8").trim().split("\n");
    const judged = judge(
      lines.map((line) => JSON.parse(line) as WitnessLine),
      promised,
      crew.killed,
    );
    const { runs: unfinished } = await store.list({ status: ["failed", "cancelled", "paused"], limit: 10 });
    const problems = [...judged.problems, ...unfinished.map(({ id, status }) => `${id} is ${status}.`)];
    return { ...judged, problems, runs, kills: crew.killed.size, seconds };
  } finally {
    await crew.stop();
    await engine.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One question for all runs, which leaves the machine to the workers. */
async function allEnded(store: Store): Promise<void> {
  for (;;) {
    const { runs } = await store.list({ status: ["queued", "running", "waiting"], limit: 1 });
    if (runs.length === 0) return;
    await delay(200);
  }
}

/** Worker processes. They are killed in the middle of their work, and others take their places. */
class Crew {
  readonly killed = new Set<number>();
  /** Rejects when a worker ends by itself. */
  readonly failed: Promise<never>;
  readonly #plan: WorkerPlan;
  readonly #options: QueuesOptions;
  readonly #random: Random;
  readonly #workers = new Set<ChildProcess>();
  #begun = 0;
  #isStopped = false;
  #fail: (error: Error) => void = () => undefined;

  constructor(plan: WorkerPlan, options: QueuesOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#random = new Random(options.seed);
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
  }

  start(): void {
    for (let n = 0; n < this.#options.processes; n++) this.#add();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const ends = [...this.#workers].map((worker) => once(worker, "exit"));
    for (const worker of this.#workers) worker.kill("SIGKILL");
    await Promise.all(ends);
  }

  #add(): void {
    const plan = JSON.stringify(this.#plan);
    // It is built, so it needs none of the loaders of this process.
    const worker = fork(childScript("test/crash/queues-child"), [plan], { execArgv: [] });
    this.#workers.add(worker);
    worker.on("message", () => this.#hasBegun(worker));
    worker.once("exit", (code, signal) => {
      this.#workers.delete(worker);
      if (this.#isStopped) return;
      const dead: WitnessLine = { what: "dead", run: "", key: "", pid: worker.pid ?? 0, at: Date.now() };
      appendFileSync(this.#plan.file, `${JSON.stringify(dead)}\n`);
      if (!this.killed.has(worker.pid ?? 0)) this.#fail(new Error(`A worker ended with ${code ?? signal}.`));
      this.#add();
    });
  }

  /** Kills, spread over the whole time: the one that has just begun a run, or any other. */
  #hasBegun(worker: ChildProcess): void {
    const { runs, kills } = this.#options;
    this.#begun++;
    if (this.killed.size >= kills || this.#begun < ((this.killed.size + 1) * runs) / (kills + 1)) return;
    const victim = this.#random.chance(0.7) ? worker : this.#random.pick([...this.#workers]);
    if (victim.pid === undefined || this.killed.has(victim.pid)) return;
    this.killed.add(victim.pid);
    victim.kill("SIGKILL");
  }
}
