import { digest } from "../../src/core/hash.ts";
import { parseEntry } from "../../src/core/journal/journal.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { type RunRow, terminal } from "../../src/core/types.ts";
import { checkInvariants } from "../../src/testing/invariants/invariants.ts";
import type { Violation } from "../../src/testing/witness/log.ts";
import { heal, scheduleChaos, startWeather } from "./chaos.ts";
import { deedOf } from "./names.ts";
import { Operator } from "./operator.ts";
import { checkOutcomes } from "./outcomes.ts";
import type { Breakage } from "./program.ts";
import { makeProgram, type SimulatedFeature } from "./sections.ts";
import { World } from "./world.ts";

export interface SimulationOptions {
  readonly workers: number;
  /** The maximum number of started runs; at least one is started. */
  readonly runs: number;
  /** How long faults occur, in simulated time. */
  readonly chaosMs: number;
  /** `false`: no faults, to see the programs' results. */
  readonly faults: boolean;
  /** Features to leave out, to narrow down a finding. Every set of features has its own histories. */
  readonly without: readonly SimulatedFeature[];
  /** Wraps the store for the engines, to prove that the checks notice it. */
  readonly wrapStore: (store: Store) => Store;
  /** Makes the programs break the rules, to prove that the checks notice it. */
  readonly breakage: Breakage;
}

/**
 * A broken guarantee, or another effect that faults must not have. `result`: a run ended differently from a run without
 * faults. `undo`: a cancelled run wasn't undone completely. `replay`: two executions saw different values. `churn`: a
 * run was claimed over and over.
 */
export interface SimulationFinding {
  readonly invariant: Violation["invariant"] | "result" | "undo" | "replay" | "churn";
  readonly runId: string;
  readonly message: string;
}

export interface SimulationReport {
  readonly seed: number;
  /** Faults and forceful acts by kind. */
  readonly faults: Readonly<Record<string, number>>;
  readonly runs: number;
  /** Calls the outside world received. */
  readonly calls: number;
  /** Journal events written. */
  readonly events: number;
  readonly simulatedMs: number;
  /** A digest of everything that was written: equal for two identical simulations. */
  readonly digest: string;
  readonly findings: readonly SimulationFinding[];
}

const TICK_MS = 500;
const QUIET_TICKS = 16;
const JUMP_MS = 1_800_000;
const MOST_TICKS = 1_200;

/**
 * Simulates one history: a few workers on one store advance a few runs while everything goes wrong that may; then the
 * faults end, time passes, and all guarantees are checked. The same seed gives the same history.
 */
export async function simulate(
  seed: number,
  options: Partial<SimulationOptions> = {},
): Promise<SimulationReport> {
  const { workers = 3, runs = 3, chaosMs = 15_000, faults = true, without = [] } = options;
  const world = new World(seed, { wrapStore: options.wrapStore, breakage: options.breakage, without });
  const { random, clock } = world;
  const heavy = random.chance(0.06);
  world.programs = Array.from({ length: heavy ? 1 : random.int(1, runs) }, () =>
    makeProgram(random, { heavy, without: world.without }),
  );
  if (random.chance(0.5) && !world.without.has("versions")) world.versions = ["1", "2"];
  const operator = new Operator(world);
  if (faults) startWeather(world);
  for (let left = workers; left > 0; left--) world.spawn();
  for (const [index, input] of world.programs.entries()) {
    const id = `run-${index + 1}`;
    const { engine, program } = random.pick(world.workers);
    clock.setTimer(
      () => {
        world.wanted.set(id, input);
        engine.start(program, input, { id }).catch(() => undefined);
      },
      random.int(0, chaosMs / 3),
    );
  }
  if (faults) scheduleChaos(world, operator, chaosMs);
  await clock.advance(chaosMs);
  heal(world);
  while (world.living.length < workers) world.spawn();
  return report(world, operator, await comeToRest(world, operator));
}

/**
 * Lets time pass and people act until every run has ended, or for long enough. Returns the runs that could have
 * continued and didn't.
 */
async function comeToRest(world: World, operator: Operator): Promise<string[]> {
  const { clock } = world;
  const late: string[] = [];
  let before = "";
  let quiet = 0;
  for (let tick = 0; tick < MOST_TICKS; tick++) {
    const runs = await operator.runs();
    const missing = [...world.wanted.keys()].some((id) => !runs.some((row) => row.id === id));
    if (!missing && runs.every(atRest)) break;
    if (missing) operator.startAgain();
    await operator.tidyUp();
    await clock.advance(TICK_MS);
    const now = runs.map((row) => row.head).join();
    quiet = now === before ? quiet + 1 : 0;
    before = now;
    // Only the clock moves, so hours may pass at once.
    if (quiet % QUIET_TICKS === QUIET_TICKS - 1) {
      late.push(...runs.filter((row) => isLate(row, clock.now())).map((row) => row.id));
      clock.jump(JUMP_MS);
    }
    if (quiet > 20 * QUIET_TICKS) break;
  }
  return [...new Set(late)];
}

const isLate = (row: RunRow, now: number): boolean =>
  row.status === "queued" && row.claim.token === null && row.wakeAt !== null && row.wakeAt > now;

const atRest = (row: RunRow): boolean => terminal(row.status) && row.wakeAt === null;

async function report(world: World, operator: Operator, late: readonly string[]): Promise<SimulationReport> {
  const { outside, store, ledger, acked, faults, seed, clock } = world;
  const findings: SimulationFinding[] = [
    ...(await checkInvariants(store, {
      calls: outside.calls,
      acked,
      effectRows: ledger.rows,
      healed: true,
      witnessed: (step) => /(^|[/>])v?[cbx]\d+(#\d+)?$/.test(step),
      deed: deedOf,
      written: ledger.written,
    })),
    ...outside.contradictions.map((one) => ({ invariant: "replay" as const, ...one })),
    ...late.map((runId) => ({
      invariant: "I10" as const,
      runId,
      message: "The run was free to go on, but it was due only hours later.",
    })),
    ...operator.broken.map((one) => ({ invariant: "result" as const, ...one })),
    ...(await checkOutcomes(world)),
  ];
  const runs = await operator.runs();
  return {
    seed,
    faults: Object.fromEntries([...faults].sort(([a], [b]) => (a < b ? -1 : 1))),
    runs: runs.length,
    calls: outside.calls.length,
    events: runs.reduce((sum, row) => sum + row.seq, 0),
    simulatedMs: clock.monotonic(),
    digest: digest((await Promise.all(runs.map((row) => historyOf(store, row)))).sort().join()),
    findings,
  };
}

/** The history of a run without its values: stack traces in recorded errors vary. */
async function historyOf(store: Store, row: RunRow): Promise<string> {
  const entries = await store.entries(row.id, { from: 1, limit: row.seq });
  const events = entries.flatMap((entry) => parseEntry(row.id, entry).events);
  return JSON.stringify([
    row.id,
    events.map(({ kind, step, meta, at, epoch }) => [kind, step, meta, at, epoch]),
  ]);
}

/** Simulates `count` seeds from `from` on, and returns the reports with findings. */
export async function simulateMany(
  from: number,
  count: number,
  options: Partial<SimulationOptions> & { onReport?: (report: SimulationReport) => void } = {},
): Promise<{
  readonly runs: number;
  readonly calls: number;
  readonly events: number;
  readonly failed: readonly SimulationReport[];
}> {
  const { onReport, ...rest } = options;
  const failed: SimulationReport[] = [];
  const total = { runs: 0, calls: 0, events: 0 };
  for (let seed = from; seed < from + count; seed++) {
    const one = await simulate(seed, rest);
    total.runs += one.runs;
    total.calls += one.calls;
    total.events += one.events;
    if (one.findings.length > 0) failed.push(one);
    onReport?.(one);
  }
  return { ...total, failed };
}
