import { seededIds } from "../../src/core/ids.ts";
import type { Point } from "../../src/core/ports.ts";
import { type StoreKind, sqliteKind } from "../../src/testing/store-kinds.ts";
import { type ActCounts, addActs, countActs, NO_ACTS, pruneAll } from "../crash/aftermath.ts";
import type { RunPlan, Strike } from "../crash/config.ts";
import { expectations, uninterrupted } from "../crash/matrix.ts";
import type { ChildEnd, SpawnOptions } from "../crash/processes.ts";
import type { ScenarioName } from "../crash/scenarios.ts";
import {
  allResultProblems,
  type Expectations,
  Lab,
  type Problem,
  type Site,
  type WorkPlan,
} from "../crash/site.ts";

export interface SoakOptions {
  readonly kills: number;
  readonly seed: number;
  /** The number of concurrent stores. Default 3: a worker often waits for the claim of a dead one. */
  readonly lanes?: number;
  /** A different worker: a broken one that proves the harness. */
  readonly spawn?: SpawnOptions;
  readonly onStore?: (progress: SoakProgress) => void;
  /** Default SQLite. */
  readonly store?: StoreKind;
}

export interface SoakProgress {
  readonly kills: number;
  /** Worker processes, including those that ended before their kill. */
  readonly rounds: number;
  readonly stores: number;
  /** Started runs, without forks and children. */
  readonly runs: number;
  /** Acts of people and of new versions of the code. */
  readonly acts: ActCounts;
  /** Calls received by the outside world. */
  readonly effects: number;
  /** `keyed` calls that the receiver recognised and answered again. */
  readonly recognised: number;
  /** `keyed` and `once` effects that were carried out more than once. */
  readonly duplicates: number;
  readonly problems: readonly Problem[];
}

export interface SoakReport extends SoakProgress {
  readonly seed: number;
  readonly seconds: number;
  readonly killsPerMinute: number;
}

const ALWAYS: readonly Point[] = [
  "C01:before-create",
  "C01:after-create",
  "C02:claimed",
  "C03:before-intent",
  "C05:before-call",
  "C07:after-call",
  "C09:after-completion",
  "C15:pause-requested",
  "C16:resumed",
  "C21:recovering",
];

/** Points that only some scenarios reach. */
const SOMETIMES: Readonly<Partial<Record<ScenarioName, readonly Point[]>>> = {
  group: ["C10:branch-done"],
  loop: ["C12:before-snapshot", "C12:after-snapshot"],
  retries: ["C11:backoff"],
  undo: ["C17:before-cancel", "C17:after-cancel"],
};

const MOST_KILLS = 12;
const MOST_WRITES = 24;
const MOST_HITS = 10;
const MOST_DELAY_MS = 400;
/** The number of acts in one process, and in the last one, which has to come to an end. */
const ACTS = 12;
const LAST_ACTS = 3;

type Random = () => number;
const upTo = (random: Random, most: number): number => 1 + Math.floor(random() * most);
/** Favors low numbers: a process with a late kill may end first. */
const earlyUpTo = (random: Random, most: number): number => 1 + Math.floor(random() ** 2 * most);
const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

/**
 * Kills worker processes at random until every run has ended anyway; then continues with a new store. Meanwhile runs
 * are paused and resumed, forked and pruned, and each process has one of two versions of the code. The seed decides
 * what runs, what people do, and where processes are killed.
 */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { kills, seed, lanes = 3, spawn, onStore, store = sqliteKind } = options;
  const started = performance.now();
  const ids = seededIds(seed);
  const random = () => ids.random();
  const lab = await Lab.open({ patienceMs: PATIENCE_MS, ...spawn, store });
  const problems: Problem[] = [];
  const counts = { kills: 0, rounds: 0, stores: 0, runs: 0, effects: 0, recognised: 0, duplicates: 0 };
  const total = { ...counts, acts: NO_ACTS, problems };
  try {
    const scenarios = await lab.scenarios();
    const expected = await expectedResults(lab, scenarios);
    const toMake = { left: kills };
    const trials = { random, scenarios, expected, openMs: store.openMs, toMake };
    const lane = async () => {
      while (toMake.left > 0 && problems.length < ENOUGH) {
        const number = ++total.stores;
        const result = await soakStore(await lab.site(), trials, `store ${number} of seed ${seed}`);
        for (const key of COUNTED) total[key] += result[key];
        total.acts = addActs(total.acts, result.acts);
        problems.push(...result.problems);
        onStore?.(total);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    const seconds = (performance.now() - started) / 1000;
    return { ...total, seed, seconds, killsPerMinute: Math.round((total.kills / seconds) * 60) };
  } finally {
    await lab.close();
  }
}

const PATIENCE_MS = 40_000;
/** After this many problems, further ones would say nothing new. */
const ENOUGH = 30;
const COUNTED = ["kills", "rounds", "runs", "effects", "recognised", "duplicates"] as const;

async function expectedResults(lab: Lab, scenarios: readonly ScenarioName[]): Promise<Expectations> {
  const runs = scenarios.map((scenario): RunPlan => ({ id: scenario, scenario }));
  return expectations(await uninterrupted(lab, runs), runs);
}

interface Trials {
  readonly random: Random;
  readonly scenarios: readonly ScenarioName[];
  readonly expected: Expectations;
  readonly openMs: number;
  /** Kills not yet assigned to a process, for all lanes together. */
  readonly toMake: { left: number };
}

/** Works on one store until it has had its share of kills; whenever all its runs have ended, new ones are started. */
async function soakStore(site: Site, trials: Trials, at: string): Promise<Omit<SoakProgress, "stores">> {
  const { random, scenarios, expected, toMake } = trials;
  const most = upTo(random, MOST_KILLS);
  const problems: Problem[] = [];
  const strikes: string[] = [];
  const all: RunPlan[] = [];
  let kills = 0;
  while (kills < most && toMake.left > 0 && problems.length === 0) {
    const runs = newRuns(random, scenarios, all.length);
    all.push(...runs);
    for (let end: ChildEnd | null = null; end === null; ) {
      const dies = kills < most && toMake.left > 0;
      if (dies) toMake.left--;
      const { strike, ended } = generation(site, trials, runs, dies);
      const next = await ended;
      strikes.push(strike);
      const isKilled = next.signal === "SIGKILL" && !next.isOverdue;
      if (isKilled) kills++;
      else end = next;
      // It ended before its kill, which is still to be made.
      if (dies && !isKilled) toMake.left++;
      // Everything must have ended as it does without faults: also forks, and runs that ended long ago.
      if (end) problems.push(...allResultProblems(`${at}: ${strikes.join(", ")}`, runs, end, expected));
    }
  }
  const where = `${at}: ${strikes.join(", ")}`;
  problems.push(...(await site.check(where)));
  const acts = await countActs(site);
  if (problems.length === 0) problems.push(...(await pruneAll(site, where)));
  const calls = site.witness.calls();
  const duplicates = problems.filter(({ message }) => message.includes("was carried out")).length;
  const recognised = calls.filter(({ outcome }) => outcome === "repeated").length;
  const counts = { kills, rounds: strikes.length, runs: all.length, effects: calls.length };
  await site.remove();
  return { ...counts, acts, recognised, duplicates, problems };
}

function newRuns(random: Random, scenarios: readonly ScenarioName[], before: number): RunPlan[] {
  return Array.from({ length: 1 + upTo(random, 3) }, (_, index): RunPlan => {
    const scenario = pick(random, scenarios);
    return { id: `${scenario}-${before + index}`, scenario };
  });
}

/** One worker process, its code, and how it will die. */
function generation(
  site: Site,
  { random, openMs }: Trials,
  runs: readonly RunPlan[],
  dies: boolean,
): { strike: string; ended: Promise<ChildEnd> } {
  const version = random() < 0.5 ? "1" : "2";
  const control = { seed: upTo(random, 1_000_000), acts: dies ? ACTS : LAST_ACTS };
  const plan: WorkPlan = { runs, version, control };
  if (!dies) return { strike: `v${version} none`, ended: site.run(plan) };
  const kind = random();
  if (kind < 0.2) {
    const delayMs = Math.floor(random() * (MOST_DELAY_MS + openMs));
    const worker = site.start(plan);
    const timer = setTimeout(() => worker.signal("SIGKILL"), delayMs);
    const ended = worker.ended.finally(() => clearTimeout(timer));
    return { strike: `v${version} after ${delayMs} ms`, ended };
  }
  const points = [...ALWAYS, ...runs.flatMap(({ scenario }) => SOMETIMES[scenario] ?? [])];
  const kill: Strike =
    kind < 0.6
      ? { write: earlyUpTo(random, MOST_WRITES), side: random() < 0.5 ? "before" : "after" }
      : { point: pick(random, points), nth: earlyUpTo(random, MOST_HITS) };
  return { strike: `v${version} ${JSON.stringify(kill)}`, ended: site.run({ ...plan, kill }) };
}
