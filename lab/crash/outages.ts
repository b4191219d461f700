import { setTimeout as delay } from "node:timers/promises";
import type { StoreAddress } from "../../src/testing/store-address.ts";
import type { StoreKind } from "../../src/testing/store-kinds.ts";
import type { RunPlan } from "./config.ts";
import { expectations, uninterrupted } from "./matrix.ts";
import type { SpawnOptions, WorkerProcess } from "./processes.ts";
import { allResultProblems, Lab, type Problem, type Site } from "./site.ts";

export interface OutageOptions {
  readonly store: StoreKind;
  readonly times: number;
  /** Disturbs the store repeatedly while a worker uses it; resolves when it is over. */
  readonly strike: (nth: number) => Promise<void>;
  /** Runs in progress. Default 8. */
  readonly runs?: number;
  /** Calls received by the outside world between two disturbances. Default 10. */
  readonly every?: number;
  /** Another route to the same store, for the worker only. */
  readonly through?: (address: StoreAddress) => StoreAddress;
  /** A different worker: a broken one that proves the harness. */
  readonly spawn?: SpawnOptions;
}

export interface OutageReport {
  readonly strikes: number;
  readonly runs: number;
  readonly calls: number;
  /** Runs that were taken over after their claim had expired. */
  readonly recoveries: number;
  readonly problems: readonly Problem[];
  readonly seconds: number;
}

const AT = "outages";
/** The outside world answers within milliseconds; a killed server is back within seconds. */
const PATIENCE_MS = 60_000;
const FOR_EVER_MS = 86_400_000;

/**
 * Keeps one worker process running while its store is disturbed repeatedly: connections are cut, servers killed. The
 * worker survives all of it, every run ends as if nothing had happened, and every guarantee holds.
 */
export async function outages(options: OutageOptions): Promise<OutageReport> {
  const { store, times, runs: many = 8, through, spawn } = options;
  const started = performance.now();
  const lab = await Lab.open({ store, patienceMs: times * PATIENCE_MS + PATIENCE_MS });
  try {
    const scenarios = await lab.scenarios();
    const plan = (index: number) => scenarios[index % scenarios.length] as RunPlan["scenario"];
    const runs = Array.from({ length: many }, (_, i): RunPlan => ({ id: plan(i), scenario: plan(i) }));
    const distinct = scenarios.map((scenario): RunPlan => ({ id: scenario, scenario }));
    const expected = expectations(await uninterrupted(lab, distinct), distinct);
    const site = await lab.site();
    const address = through?.(site.place.address) ?? site.place.address;
    const plans = { store: address, runs, repeatMs: FOR_EVER_MS, patient: true, claimMs: CLAIM_MS };
    const worker = site.start(plans, spawn);
    const problems = await struck(site, worker, options);
    const end = await worker.ended;
    problems.push(...allResultProblems(AT, [], end, expected));
    // If the server didn't come back, nothing else can be checked.
    if (!problems.some(({ rule }) => rule === "harness")) problems.push(...(await site.check(AT)));
    const calls = site.witness.calls().length;
    const [report] = end.reports;
    await site.remove();
    const counts = { strikes: times, runs: report?.started ?? 0, calls, recoveries: report?.recoveries ?? 0 };
    return { ...counts, problems, seconds: (performance.now() - started) / 1000 };
  } finally {
    await lab.close();
  }
}

/** Disturbs the store after every few calls; then no more runs are started. A worker that gets stuck is killed. */
async function struck(
  { witness }: Site,
  worker: WorkerProcess,
  { times, strike, every = 10 }: OutageOptions,
): Promise<Problem[]> {
  const isAlive = async <T>(work: Promise<T>): Promise<T> => Promise.race([work, deathOf(worker)]);
  const problems: Problem[] = [];
  const problem = (rule: Problem["rule"], error: unknown): Problem => {
    return { at: AT, rule, runId: "", message: error instanceof Error ? error.message : String(error) };
  };
  for (let nth = 1; nth <= times; nth++) {
    const seen = witness.calls().length;
    let striking: Promise<unknown> = Promise.resolve();
    try {
      await isAlive(witness.waitFor(({ n }) => n >= seen + every, PATIENCE_MS));
      striking = strike(nth).catch((error: unknown) => problems.push(problem("harness", error)));
      await isAlive(striking);
    } catch (error) {
      problems.push(problem("I10", error));
      // The server may be restarting; a dead worker isn't waited for.
      await Promise.race([striking, delay(RESTART_MS)]);
    }
    if (problems.length > 0) break;
  }
  worker.signal(problems.length > 0 ? "SIGKILL" : "SIGHUP");
  return problems;
}

const CLAIM_MS = 1_000;
const RESTART_MS = 10_000;

async function deathOf({ ended }: { readonly ended: Promise<{ readonly stderr: string }> }): Promise<never> {
  const { stderr } = await ended;
  throw new Error(`The worker did not live through it. ${stderr}`);
}
