import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createTemporalEngine } from "../../src/adapters/temporal/index.ts";
import type { Engine, RunHandle } from "../../src/index.ts";
import { childScript } from "../child-script.ts";
import type { TemporalServer } from "../services/temporal.ts";
import { job, ownerOf, readSeen, type Seen } from "./jobs.ts";

export interface KillOptions {
  readonly server: TemporalServer;
  /** The sandbox's bundle. */
  readonly bundle: string;
  readonly kills: number;
  readonly serverKills: number;
  /** No kill begins after this time. Default: all of them. */
  readonly until?: number;
  /** Runs at once. */
  readonly runs: number;
  readonly workers: number;
  readonly say?: (text: string) => void;
}

export interface KillReport {
  readonly kills: number;
  readonly serverKills: number;
  readonly runs: number;
  /** Calls that the world has seen, and those that followed a crash. */
  readonly calls: number;
  readonly repeatedCalls: number;
  /** Steps that ran again although the journal had their outcome. Must be empty. */
  readonly repeatedSteps: readonly string[];
  /** `once` effects that happened twice. Must be empty. */
  readonly doubled: readonly string[];
  /** Runs that didn't end as they should. Must be empty. */
  readonly wrong: readonly string[];
  /** What followed the kill of a worker for each of its runs. */
  readonly recoveries: readonly Recovery[];
}

export interface Recovery {
  readonly run: string;
  readonly killedAt: number;
  /** Until another worker had claimed the run. */
  readonly ms: number;
  /** Until that one did something with it; `null` when it was killed before. */
  readonly callMs: number | null;
}

interface Kill {
  readonly pid: number;
  readonly at: number;
}

const SIZE = 4;

/** Within this time after the last kill every run ends that isn't stuck. */
const STUCK_MS = 180_000;

/** Kills workers, and the server, while runs are under way; then compares the world with the journals. */
export async function killWorkers(options: KillOptions): Promise<KillReport> {
  const folder = mkdtempSync(path.join(tmpdir(), "holdfast-kills-"));
  const witness = path.join(folder, "witness.log");
  writeFileSync(witness, "");
  const taskQueue = `kills-${process.pid}-${Date.now()}`;
  const place: Place = { ...options, taskQueue, witness };
  const engine = createTemporalEngine({ address: options.server.address, taskQueue, workflows: [job] });
  const crew = new Crew(place);
  await crew.fill();
  const load = new Load(engine, options.runs);
  load.fill();
  const kills: Kill[] = [];
  const every = Math.max(1, Math.floor(options.kills / Math.max(1, options.serverKills)));
  let serverKills = 0;
  const { until = Number.POSITIVE_INFINITY } = options;
  for (let n = 1; n <= options.kills && Date.now() < until; n++) {
    await someWork(witness, crew.oldest);
    kills.push(await crew.killOne());
    if (n % every === 0 && serverKills < options.serverKills) {
      await options.server.stop("SIGKILL");
      await options.server.start();
      serverKills++;
    }
    if (n % 10 === 0)
      options.say?.(`${n} workers and ${serverKills} servers killed, ${load.ended} runs ended`);
  }
  const wrong = await load.finish();
  const seen = readSeen(witness);
  const report = await judge(engine, load.ids, seen);
  const recoveries = await recoveriesAfter(engine, kills);
  await crew.end();
  await engine.close();
  return { kills: kills.length, serverKills, runs: load.ids.length, ...report, wrong, recoveries };
}

interface Place extends KillOptions {
  readonly taskQueue: string;
  readonly witness: string;
}

/** Worker processes: as many as wanted, whoever is killed. */
class Crew {
  readonly #place: Place;
  #members: ChildProcess[] = [];

  constructor(place: Place) {
    this.#place = place;
  }

  async fill(): Promise<void> {
    while (this.#members.length < this.#place.workers) this.#members.push(await this.#open());
  }

  async #open(): Promise<ChildProcess> {
    const { server, taskQueue, bundle, witness } = this.#place;
    const env = {
      ...process.env,
      HOLDFAST_ADDRESS: server.address,
      HOLDFAST_QUEUE: taskQueue,
      HOLDFAST_BUNDLE: bundle,
      HOLDFAST_WITNESS: witness,
    };
    const child = spawn(process.execPath, [childScript("test/crash/temporal-child")], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout as NodeJS.ReadableStream, "data");
    return child;
  }

  get oldest(): number {
    return this.#members[0]?.pid ?? 0;
  }

  /** Kills the oldest and starts another, so that there is always somebody to take over. */
  async killOne(): Promise<Kill> {
    const [oldest, ...rest] = this.#members;
    if (!oldest) throw new Error("there is no worker to kill");
    const at = Date.now();
    const ended = once(oldest, "exit");
    oldest.kill("SIGKILL");
    await ended;
    this.#members = rest;
    await this.fill();
    return { pid: oldest.pid ?? 0, at };
  }

  async end(): Promise<void> {
    for (const member of this.#members) {
      const ended = once(member, "exit");
      member.kill("SIGKILL");
      await ended;
    }
  }
}

/** Resolves when a worker has made a few calls: a kill then hits work in progress, and what was killed before has recovered. */
async function someWork(witness: string, pid: number): Promise<void> {
  const wanted = 3 + Math.floor(Math.random() * 12);
  const isEnough = (): boolean => readSeen(witness).filter((one) => one.pid === pid).length >= wanted;
  for (let tries = 0; tries < 1_200 && !isEnough(); tries++) await delay(25);
}

/** Runs under way: a new one for each that ends. */
class Load {
  readonly ids: string[] = [];
  ended = 0;
  readonly #engine: Engine;
  readonly #most: number;
  readonly #wrong: string[] = [];
  readonly #open = new Map<string, Promise<void>>();
  #isOver = false;

  constructor(engine: Engine, most: number) {
    this.#engine = engine;
    this.#most = most;
  }

  fill(): void {
    while (!this.#isOver && this.#open.size < this.#most) {
      const id = `job-${process.pid}-${this.ids.length}`;
      this.ids.push(id);
      const done = this.#run(id).finally(() => {
        this.#open.delete(id);
        this.ended++;
        this.fill();
      });
      this.#open.set(id, done);
    }
  }

  async #run(id: string): Promise<void> {
    try {
      const run: RunHandle<unknown> = await this.#started(id);
      const result = JSON.stringify(await run.result());
      const want = JSON.stringify({ lines: SIZE, outer: 2, sum: SIZE, child: 3 });
      if (result !== want) this.#wrong.push(`${id} gave ${result}`);
    } catch (error) {
      this.#wrong.push(`${id}: ${String(error)}`);
    }
  }

  /** The server may be away just now. The same id makes the same run. */
  async #started(id: string): Promise<RunHandle<unknown>> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#engine.start(job, SIZE, { id });
      } catch (error) {
        if (tries === 20) throw error;
        await delay(250);
      }
    }
  }

  /** Waits for the runs under way. One that doesn't end is stuck. */
  async finish(): Promise<string[]> {
    this.#isOver = true;
    await Promise.race([Promise.all(this.#open.values()), delay(STUCK_MS, undefined, { ref: false })]);
    return [...this.#wrong, ...Array.from(this.#open.keys(), (id) => `${id} is stuck`)];
  }
}

type Verdict = Pick<KillReport, "calls" | "repeatedCalls" | "repeatedSteps" | "doubled">;

const keyOf = ({ run, step }: Pick<Seen, "run" | "step">): string => `${run} ${step}`;

function grouped(seen: readonly Seen[], what: Seen["what"]): Map<string, Seen[]> {
  const groups = new Map<string, Seen[]>();
  for (const one of seen)
    if (one.what === what) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

/** Compares what the world has seen with what the journals say. */
async function judge(engine: Engine, runs: readonly string[], seen: readonly Seen[]): Promise<Verdict> {
  const [begun, effects] = [grouped(seen, "begin"), grouped(seen, "effect")];
  const repeatedSteps: string[] = [];
  for (const run of runs)
    for (const { kind, step, at } of await eventsOf(engine, run)) {
      if (kind !== "step_completed") continue;
      for (const call of begun.get(`${run} ${step}`) ?? [])
        if (call.at > at) repeatedSteps.push(`${run} ${step} was called ${call.at - at} ms after its end`);
    }
  const isOnce = (key: string): boolean => /(?:order|tool)$/.test(key);
  const doubled = [...effects].filter(([key, list]) => isOnce(key) && list.length > 1).map(([key]) => key);
  const calls = [...begun.values()].reduce((sum, { length }) => sum + length, 0);
  return { calls, repeatedCalls: calls - begun.size, repeatedSteps, doubled };
}

type Told = Awaited<ReturnType<Engine["reports"]["events"]>>["events"];

const eventsOf = async (engine: Engine, run: string): Promise<Told> =>
  (await engine.reports.events(run, { limit: 1_000 })).events;

/** What followed each kill for each run that the killed worker had. */
async function recoveriesAfter(engine: Engine, kills: readonly Kill[]): Promise<Recovery[]> {
  const { incidents } = await engine.reports.recoveries();
  return incidents.flatMap(({ run, at, lost, resumedAfterMs }) => {
    // Process ids come again in the course of many kills.
    const kill = kills.findLast((one) => ownerOf(one.pid) === lost && one.at <= at);
    if (!kill) return [];
    const ms = at - kill.at;
    return [{ run, killedAt: kill.at, ms, callMs: resumedAfterMs === null ? null : ms + resumedAfterMs }];
  });
}
