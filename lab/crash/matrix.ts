import type { Point } from "../../src/core/ports.ts";
import { spread } from "../../src/testing/spread.ts";
import { type StoreKind, sqliteKind } from "../../src/testing/store-kinds.ts";
import type { ChildReport, RunPlan, Strike } from "./config.ts";
import type { ChildEnd, SpawnOptions } from "./processes.ts";
import type { ScenarioName } from "./scenarios.ts";
import { type Expectations, Lab, type Problem, resultProblems, type Site } from "./site.ts";

export interface MatrixOptions {
  readonly scenario: ScenarioName;
  /** The kinds of places to try. Default both: before and after each write, and at each named point. */
  readonly kinds?: readonly ("write" | "point")[];
  /** The maximum number of cases, evenly spread. */
  readonly limit?: number;
  /** Runs of the scenario in progress in the killed process. Default 2. */
  readonly runs?: number;
  /** The number of concurrent cases. Default 2. */
  readonly lanes?: number;
  /** Called after each case. */
  readonly onCase?: (at: string, problems: readonly Problem[]) => void;
  readonly spawn?: SpawnOptions;
  /** Default SQLite. */
  readonly store?: StoreKind;
}

export interface MatrixReport {
  readonly scenario: ScenarioName;
  /** The number of possible places, and how many were tried. */
  readonly possible: number;
  readonly cases: number;
  readonly kills: number;
  /** Cases that ended before their place was reached, because the timing differed. */
  readonly missed: number;
  readonly calls: number;
  readonly problems: readonly Problem[];
  readonly seconds: number;
}

/**
 * Kills a worker process at every possible place, one case each, lets a second process finish, and checks that the
 * result is the same as without a crash and that every guarantee held.
 */
export async function crashMatrix(options: MatrixOptions): Promise<MatrixReport> {
  const started = performance.now();
  const { scenario, limit = Number.POSITIVE_INFINITY, lanes = 2, onCase } = options;
  const runs = Array.from(
    { length: options.runs ?? 2 },
    (_, index): RunPlan => ({ id: `${scenario}-${index + 1}`, scenario }),
  );
  const { store = sqliteKind } = options;
  const lab = await Lab.open({ ...options.spawn, store });
  const problems: Problem[] = [];
  const count = { cases: 0, kills: 0, missed: 0, calls: 0 };
  try {
    const baseline = await uninterrupted(lab, runs);
    const all = strikesOf(baseline, options.kinds ?? ["write", "point"]);
    const strikes = spread(all, limit);
    const expected = expectations(baseline, runs);
    const lane = async (): Promise<void> => {
      for (let batch = strikes.splice(0, BATCH); batch.length > 0; batch = strikes.splice(0, BATCH)) {
        if (problems.length >= ENOUGH) return;
        for (const result of await strikeBatch(lab, runs, batch, expected)) {
          count.cases++;
          count.calls += result.calls;
          count[result.isKilled ? "kills" : "missed"]++;
          problems.push(...result.problems);
          onCase?.(result.at, result.problems);
        }
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    return {
      scenario,
      possible: all.length,
      ...count,
      problems,
      seconds: (performance.now() - started) / 1000,
    };
  } finally {
    await lab.close();
  }
}

/** How many cases one process finishes, because starting processes takes most of the time. */
const BATCH = 4;
const ALONE_MS = 8_000;
/** After this many problems, further ones would say nothing new. */
const ENOUGH = 20;

/** Runs without faults: gives the expected result and the places for faults. */
export async function uninterrupted(lab: Lab, runs: readonly RunPlan[]): Promise<ChildReport> {
  const site = await lab.site();
  const end = await site.run({ runs });
  const problems = [
    ...resultProblems("uninterrupted", runs, end, {}),
    ...(await site.check("uninterrupted")),
  ];
  await site.remove();
  const [report] = end.reports;
  if (!report || problems.length > 0)
    throw new Error(`The uninterrupted run failed: ${JSON.stringify(problems)}`);
  return report;
}

export function expectations({ results }: ChildReport, runs: readonly RunPlan[]): Expectations {
  return Object.fromEntries(
    runs.flatMap(({ id, scenario }) => {
      const found = results[id];
      return found ? [[scenario, { status: found.status, value: found.value }]] : [];
    }),
  );
}

/** Every place: points first, in the order they were reached, then both sides of each write. */
export function strikesOf({ writes, points }: ChildReport, kinds: readonly ("write" | "point")[]): Strike[] {
  const atPoints = Object.entries(points).flatMap(([point, hits]) =>
    Array.from({ length: hits }, (_, index): Strike => ({ point: point as Point, nth: index + 1 })),
  );
  const atWrites = Array.from({ length: writes }, (_, index) => index + 1).flatMap((write): Strike[] => [
    { write, side: "before" },
    { write, side: "after" },
  ]);
  return [...(kinds.includes("point") ? atPoints : []), ...(kinds.includes("write") ? atWrites : [])];
}

export const nameOf = (scenario: string, strike: Strike): string =>
  "point" in strike
    ? `${scenario}: killed at ${strike.point}, hit ${strike.nth}`
    : `${scenario}: killed ${strike.side} write ${strike.write}`;

interface CaseResult {
  readonly at: string;
  readonly isKilled: boolean;
  readonly calls: number;
  readonly problems: Problem[];
}

async function strikeBatch(
  lab: Lab,
  runs: readonly RunPlan[],
  strikes: readonly Strike[],
  expected: Expectations,
): Promise<CaseResult[]> {
  const struck: { at: string; site: Site; end: ChildEnd }[] = [];
  for (const kill of strikes) {
    const site = await lab.site();
    struck.push({ at: nameOf(runs[0]?.scenario ?? "", kill), site, end: await site.run({ runs, kill }) });
  }
  const together = await lab.spawn(struck.map(({ site }) => site.config({ runs }))).ended;
  const results: CaseResult[] = [];
  for (const [position, { at, site, end }] of struck.entries()) {
    // One that can't end blocks them all, so each is tried on its own before it is blamed.
    const isWhole = together.reports.length > 0;
    const [last, index] = isWhole
      ? [together, position]
      : [await site.run({ runs }, { patienceMs: ALONE_MS }), 0];
    const isKilled = end.signal === "SIGKILL" && !end.isOverdue;
    const problems = isKilled || end.code === 0 ? [] : [brokenWorker(at, end)];
    problems.push(...resultProblems(at, runs, last, expected, index), ...(await site.check(at)));
    results.push({ at, isKilled, calls: site.witness.calls().length, problems });
    await site.remove();
  }
  return results;
}

function brokenWorker(at: string, { code, signal, stderr }: ChildEnd): Problem {
  return { at, rule: "harness", runId: "", message: `The worker ended with ${code ?? signal}. ${stderr}` };
}
