import { openSync, writeSync } from "node:fs";
import { createEngine, type Engine } from "../../src/core/engine/engine.ts";
import { HoldfastError } from "../../src/core/errors.ts";
import type { Policy } from "../../src/core/guards/policy.ts";
import type { Store } from "../../src/core/store/contract.ts";
import type { RunRow } from "../../src/core/types.ts";
import { expected } from "../../src/testing/expected.ts";
import { ledgerIn, openAddress } from "../../src/testing/store-address.ts";
import { createWitnessClient, type WitnessClient } from "../../src/testing/witness/witness.ts";
import type { ChildConfig, ChildReport, RunOutcome, RunPlan } from "./config.ts";
import { Controller } from "./controller.ts";
import { FaultInjector, freeze } from "./fault-injector.ts";
import { Responder } from "./responder.ts";
import { createScenarios, type Scenarios } from "./scenarios.ts";

const UNFINISHED = ["queued", "running", "waiting", "paused"] as const;
const ROUND_MS = 15;
const SHARED_ROUND_MS = 60;
const DRAIN_MS = 2_000;

/** The parts that a deliberately broken worker replaces. */
export interface ChildParts {
  readonly store?: (store: Store) => Store;
  readonly scenarios?: typeof createScenarios;
}

/** Runs the worker process: starts its runs, recovers abandoned ones, and ends when nothing is left to do. */
export async function runChild(config: ChildConfig, parts: ChildParts = {}): Promise<ChildReport> {
  const injector = new FaultInjector(config, openSync(config.ackFile, "a"));
  const real = await openAddress(config.store);
  const store = injector.wrap(parts.store ? parts.store(real) : real);
  const witness = createWitnessClient(config.witnessPort, { log: config.witnessLog });
  const acting = new Set<string>();
  const onCall = ({ runId, step }: { readonly runId: string; readonly step: string }): void => {
    const { act } = config;
    if (act?.kind !== "pause" && act?.kind !== "cancel") return;
    if (act.step !== step || acting.has(runId)) return;
    acting.add(runId);
    void expected(
      act.kind === "pause"
        ? engine.pause(runId, { actor: "tester" })
        : engine.cancel(runId, { actor: "tester" }),
    );
  };
  const { version, salt } = config;
  const ledger = { table: ledgerIn(config.store), async: real.capabilities.transactions === "async" };
  const scenarios = (parts.scenarios ?? createScenarios)(witness, onCall, { version, salt, ledger });
  const errors: string[] = [];
  const engine = openEngine(config, store, scenarios, injector, errors);
  // Freezes between two turns of the event loop, so never while SQLite holds its lock.
  process.once("SIGUSR2", freeze);
  process.once("SIGTERM", () => void engine.close({ drainMs: DRAIN_MS }).then(() => process.exit(0)));
  let recoveries = 0;
  engine.on("recovered", () => recoveries++);
  const child = { config, store, engine, scenarios, witness };
  let phase = "starting runs";
  process.once("SIGUSR1", () => void expected(report(child, real, phase)));
  const plans =
    config.repeatMs === undefined ? await startAll(child, config.runs) : await repeat(child, config.repeatMs);
  await actFirst(child);
  phase = "waiting for the end of all runs";
  await untilDone(child, plans);
  phase = "reading results";
  const results: Record<string, RunOutcome> = {};
  const again = patience(config);
  for (const id of await again(() => reported(child, plans)))
    results[id] = await again(() => outcome(engine, id));
  phase = "closing";
  await engine.close();
  witness.close();
  await real.close();
  const { writes, points, refused } = injector;
  return { results, writes, points, refused, recoveries, started: plans.length, errors };
}

/** Says what a worker that is overdue is doing, before it is killed. */
async function report({ scenarios }: Child, store: Store, phase: string): Promise<void> {
  writeSync(2, `It was ${phase}, with ${process.getActiveResourcesInfo().join(", ")}.\n`);
  const workflows = scenarios.workflows.map(({ name }) => name);
  const { runs } = await store.list({ status: UNFINISHED, limit: 20 });
  const due = await store.due({ workflows, limit: 20 });
  writeSync(2, `Unfinished: ${JSON.stringify(runs)}\nDue: ${JSON.stringify(due)}\n`);
}

interface Child {
  readonly config: ChildConfig;
  readonly store: Store;
  readonly engine: Engine;
  readonly scenarios: Scenarios;
  readonly witness: WitnessClient;
}

function openEngine(
  config: ChildConfig,
  store: Store,
  { workflows }: Scenarios,
  { probe }: FaultInjector,
  errors: string[],
): Engine {
  const quiet = (): void => undefined;
  const note = (message: string, fields?: Readonly<Record<string, unknown>>) => {
    errors.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  const { claimMs = 200, maxRecoveries = 1_000_000, concurrency = 1_000 } = config;
  return createEngine({
    store,
    workflows,
    claimMs,
    recovery: { maxAttempts: maxRecoveries },
    concurrency,
    probe,
    sweepMs: 20,
    holdMs: 15,
    assumedStepMs: claimMs,
    owner: `worker-${process.pid}`,
    logger: { debug: quiet, info: quiet, warn: quiet, error: note },
    ...(config.policy === "ask" ? { policy: ASKING } : {}),
  });
}

const ASKING: Policy = {
  version: "1",
  decide: ({ effect }) => (effect === "once" ? { ask: "It can be done only once." } : "allow"),
};

/** Acts of people that come as soon as there is a process. */
async function actFirst(child: Child): Promise<void> {
  const { config, engine } = child;
  const { act } = config;
  if (act?.kind === "resume" && act.id !== undefined)
    for (const { id } of config.runs) await responderOf(child).resume(id);
  if (act?.kind !== "fork") return;
  const list = await engine.checkpoints.list(act.source, { limit: 1_000, all: true });
  const place = list.findLast(({ step, kind }) => step === act.step && kind === "step_completed");
  if (!place) throw new Error(`Step ${act.step} of ${act.source} was not done.`);
  await engine.fork(place.id, { id: `${act.source}-fork`, effects: "reuse", actor: "tester" });
}

/** The runs to report; when people interfere, all but children: also forks, and runs that ended long ago. */
async function reported({ config, store }: Child, plans: readonly RunPlan[]): Promise<readonly string[]> {
  if (!config.control && config.act?.kind !== "fork") return plans.map(({ id }) => id);
  const { runs } = await store.list({ limit: 1_000 });
  return runs.filter(({ parent }) => parent === null).map(({ id }) => id);
}

async function startAll(
  { config, engine, scenarios }: Child,
  plans: readonly RunPlan[],
): Promise<readonly RunPlan[]> {
  const times = Array.from({ length: config.starts ?? 1 });
  const start = ({ id, scenario }: RunPlan) =>
    engine.start(scenarios.main[scenario], { order: "A-1" }, { id });
  await Promise.all(plans.flatMap((plan) => times.map(() => start(plan))));
  await engine.work();
  return plans;
}

/** Keeps as many runs in progress as there are plans, until the time is up. */
async function repeat(child: Child, ms: number): Promise<readonly RunPlan[]> {
  const { engine, scenarios, config } = child;
  let end = performance.now() + ms;
  process.once("SIGHUP", () => (end = 0));
  const responder = responderOf(child);
  const again = patience(config);
  const started: RunPlan[] = [];
  await engine.work();
  const lane = async ({ id, scenario }: RunPlan, index: number) => {
    for (let round = 0; performance.now() < end; round++) {
      const plan = { id: `${id}-${index}-${round}`, scenario };
      await again(() => engine.start(scenarios.main[scenario], { order: "A-1" }, { id: plan.id }));
      started.push(plan);
      await again(() => responder.greet(plan.id));
      await again(() => engine.result(plan.id)).catch(() => undefined);
    }
  };
  let isOver = false;
  const lanes = Promise.all(config.runs.map(lane)).finally(() => {
    isOver = true;
  });
  await attend(child, () => isOver);
  await lanes;
  return started;
}

async function untilDone(child: Child, plans: readonly RunPlan[]): Promise<void> {
  const { config, store, scenarios } = child;
  const responder = responderOf(child);
  // A fork whose creator died right after creating it hasn't been sent its signal.
  const others = config.control ? await reported(child, plans) : [];
  const again = patience(config);
  const unheard = config.repeatMs === undefined ? plans.map(({ id }) => id) : [];
  for (const id of new Set([...unheard, ...others])) await again(() => responder.greet(id));
  const mine = new Set(plans.map(({ id }) => id));
  const workflows = scenarios.workflows.map(({ name }) => name);
  await attend(child, async (rows) => {
    if (config.shared === true) return !rows.some(({ id }) => mine.has(id));
    if (rows.some((row) => config.until !== "settled" || !isSettled(row))) return false;
    return (await store.due({ workflows, limit: 1 })).length === 0;
  });
}

/** Polls the store in short rounds, because other processes may advance a run. */
async function attend(
  child: Child,
  isDone: (rows: readonly RunRow[]) => boolean | Promise<boolean>,
): Promise<void> {
  const { engine, store, config } = child;
  const responder = responderOf(child);
  const controller = config.control && new Controller(engine, store, config.control);
  const again = patience(config);
  const look = async (): Promise<boolean> => {
    for (const fork of (await controller?.round()) ?? []) await responder.greet(fork);
    const { runs } = await store.list({ status: UNFINISHED, limit: 200 });
    await responder.tend(runs);
    return isDone(runs);
  };
  for (;;) {
    if (await again(look)) return;
    await new Promise((resolve) => setTimeout(resolve, config.shared === true ? SHARED_ROUND_MS : ROUND_MS));
  }
}

/** Repeats an act while the store is down, for workers configured as patient. */
const patience =
  ({ patient }: ChildConfig) =>
  async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (patient !== true || !HoldfastError.is(error, "HF-3002")) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
    }
  };

const responderOf = ({ engine, witness, config }: Child): Responder => new Responder(engine, witness, config);

const isSettled = (row: RunRow): boolean =>
  row.status === "paused" || (row.status === "waiting" && row.waiting.some(({ kind }) => kind === "review"));

async function outcome(engine: Engine, id: string): Promise<RunOutcome> {
  const run = await engine.get(id);
  if (!run) return { status: "queued", waiting: ["missing"], value: null };
  const waiting = run.waiting.map(({ kind }) => kind);
  if (run.status === "completed") return { status: run.status, waiting, value: await engine.result(id) };
  return { status: run.status, waiting, value: run.error };
}

/** Reads one or more plans from the command line, and prints their reports in order at the end. */
export async function runChildFromArgs(parts: ChildParts = {}): Promise<void> {
  const configs = JSON.parse(process.argv[2] ?? "[]") as readonly ChildConfig[];
  try {
    const reports = await Promise.all(configs.map((config) => runChild(config, parts)));
    writeSync(1, `${JSON.stringify(reports)}\n`);
    process.exit(0);
  } catch (error) {
    writeSync(2, `${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(2);
  }
}
