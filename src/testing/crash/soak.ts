import { seededIds } from "../../core/ids.ts";
import type { Point } from "../../core/ports.ts";
import type { RunPlan, Strike } from "./config.ts";
import { expectations, uninterrupted } from "./matrix.ts";
import type { ChildEnd } from "./processes.ts";
import { type ScenarioName, scenarioNames } from "./scenarios.ts";
import { type Expectations, Lab, type Problem, resultProblems, type Site } from "./site.ts";

export interface SoakOptions {
  readonly kills: number;
  readonly seed: number;
  /** Stores worked on at a time. Default 3: a worker often waits for the claim of a dead one. */
  readonly lanes?: number;
  readonly onStore?: (progress: SoakProgress) => void;
}

export interface SoakProgress {
  readonly kills: number;
  readonly stores: number;
  readonly runs: number;
  /** Calls the outside world received. */
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

type Random = () => number;
const upTo = (random: Random, most: number): number => 1 + Math.floor(random() * most);
/** Low numbers more often: a process that is struck late may end first. */
const earlyUpTo = (random: Random, most: number): number => 1 + Math.floor(random() ** 2 * most);
const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

/**
 * Kills worker processes at random, again and again, until every run has ended all the same; then a fresh store. The
 * seed decides what is run and where it is struck.
 *
 * @example
 * ```ts
 * import { soak } from "holdfast/testing";
 *
 * const report = await soak({ kills: 50, seed: 7 });
 * console.log(report.kills, report.duplicates, report.problems);
 * ```
 */
export async function soak({ kills, seed, lanes = 3, onStore }: SoakOptions): Promise<SoakReport> {
  const started = performance.now();
  const ids = seededIds(seed);
  const random = () => ids.random();
  const lab = await Lab.open();
  const problems: Problem[] = [];
  const total = { kills: 0, stores: 0, runs: 0, effects: 0, recognised: 0, duplicates: 0, problems };
  try {
    const expected = await expectedResults(lab);
    const lane = async () => {
      while (total.kills < kills) {
        const number = ++total.stores;
        const result = await soakStore(await lab.site(), random, expected, `store ${number} of seed ${seed}`);
        total.kills += result.kills;
        total.runs += result.runs;
        total.effects += result.effects;
        total.recognised += result.recognised;
        total.duplicates += result.duplicates;
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

async function expectedResults(lab: Lab): Promise<Expectations> {
  const runs = scenarioNames.map((scenario): RunPlan => ({ id: scenario, scenario }));
  return expectations(await uninterrupted(lab, runs), runs);
}

/** Works on one store until it has seen its share of kills; whenever all its runs have ended, there are new ones. */
async function soakStore(
  site: Site,
  random: Random,
  expected: Expectations,
  at: string,
): Promise<Omit<SoakProgress, "stores">> {
  const most = upTo(random, MOST_KILLS);
  const problems: Problem[] = [];
  const strikes: string[] = [];
  const all: RunPlan[] = [];
  let kills = 0;
  while (kills < most && problems.length === 0) {
    const runs = newRuns(random, all.length);
    all.push(...runs);
    for (let end: ChildEnd | null = null; end === null; ) {
      const { strike, ended } =
        kills < most ? generation(site, random, runs) : { strike: "none", ended: site.run({ runs }) };
      const next = await ended;
      strikes.push(strike);
      if (next.signal === "SIGKILL" && !next.isOverdue) kills++;
      else end = next;
      if (end) problems.push(...resultProblems(`${at}: ${strikes.join(", ")}`, runs, end, expected));
    }
  }
  problems.push(...(await site.check(`${at}: ${strikes.join(", ")}`)));
  const calls = site.witness.calls();
  const duplicates = problems.filter(({ message }) => message.includes("was carried out")).length;
  const recognised = calls.filter(({ outcome }) => outcome === "repeated").length;
  await site.remove();
  return { kills, runs: all.length, effects: calls.length, recognised, duplicates, problems };
}

function newRuns(random: Random, before: number): RunPlan[] {
  return Array.from({ length: 1 + upTo(random, 3) }, (_, index): RunPlan => {
    const scenario = pick<ScenarioName>(random, scenarioNames);
    return { id: `${scenario}-${before + index}`, scenario };
  });
}

/** One worker process and how it will die. */
function generation(
  site: Site,
  random: Random,
  runs: readonly RunPlan[],
): { strike: string; ended: Promise<ChildEnd> } {
  const kind = random();
  if (kind < 0.2) {
    const delayMs = Math.floor(random() * MOST_DELAY_MS);
    const worker = site.start({ runs });
    const timer = setTimeout(() => worker.signal("SIGKILL"), delayMs);
    return { strike: `after ${delayMs} ms`, ended: worker.ended.finally(() => clearTimeout(timer)) };
  }
  const points = [...ALWAYS, ...runs.flatMap(({ scenario }) => SOMETIMES[scenario] ?? [])];
  const kill: Strike =
    kind < 0.6
      ? { write: earlyUpTo(random, MOST_WRITES), side: random() < 0.5 ? "before" : "after" }
      : { point: pick(random, points), nth: earlyUpTo(random, MOST_HITS) };
  return { strike: JSON.stringify(kill), ended: site.run({ runs, kill }) };
}
