import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Store } from "../../src/core/store/contract.ts";
import { checkInvariants } from "../../src/testing/invariants/invariants.ts";
import { type StoreAddress, withStoreAt } from "../../src/testing/store-address.ts";
import { type StoreKind, type StorePlace, sqliteKind } from "../../src/testing/store-kinds.ts";
import type { AckedWrite, Violation } from "../../src/testing/witness/log.ts";
import type { LoggedCall } from "../../src/testing/witness/wire.ts";
import { startWitness, type Witness, type WitnessLog } from "../../src/testing/witness/witness.ts";
import type { ChildConfig, RunOutcome, RunPlan } from "./config.ts";
import { deedOf } from "./names.ts";
import {
  type ChildEnd,
  PATIENCE_MS,
  type SpawnOptions,
  spawnWorker,
  type WorkerProcess,
} from "./processes.ts";
import { type ScenarioName, scenarioNames } from "./scenarios.ts";
import { undoProblems } from "./undo-check.ts";

/** A broken guarantee, or a problem with the case itself. */
export interface Problem {
  /** Describes the case so that it can be repeated. */
  readonly at: string;
  readonly rule: Violation["invariant"] | "result" | "retention" | "harness";
  readonly runId: string;
  readonly message: string;
}

export type Expectations = Readonly<Partial<Record<ScenarioName, Omit<RunOutcome, "waiting">>>>;

export type WorkPlan = Omit<ChildConfig, "store" | "witnessPort" | "witnessLog" | "ackFile"> & {
  /** Another route to the same store. */
  readonly store?: StoreAddress;
};

/** The environment of one case: its own place in the store, a witness log and a log of acknowledgements. */
export class Site {
  readonly folder: string;
  readonly place: StorePlace;
  readonly witness: WitnessLog;
  readonly #lab: Lab;

  constructor(lab: Lab, folder: string, witness: WitnessLog) {
    this.#lab = lab;
    this.folder = folder;
    this.place = lab.store.place(folder);
    this.witness = witness;
  }

  config(plan: WorkPlan): ChildConfig {
    const { folder } = this;
    const logs = { ackFile: path.join(folder, "acks.jsonl"), witnessLog: path.join(folder, "witness.jsonl") };
    const { witness, store } = this.#lab;
    const { claimMs } = store;
    return { store: this.place.address, claimMs, ...plan, ...logs, witnessPort: witness.port };
  }

  /** Opens the store in this process. */
  read<T>(use: (store: Store) => Promise<T>): Promise<T> {
    return withStoreAt(this.place.address, use);
  }

  /** Starts a worker process on the site's store. */
  start(plan: WorkPlan, spawn: SpawnOptions = {}): WorkerProcess {
    return this.#lab.spawn([this.config(plan)], spawn);
  }

  /** Starts a worker process and waits for its end. */
  run(plan: WorkPlan, spawn?: SpawnOptions): Promise<ChildEnd> {
    return this.start(plan, spawn).ended;
  }

  acked(): AckedWrite[] {
    const file = path.join(this.folder, "acks.jsonl");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").split("\n");
    // A worker may have been killed while writing its last line; an incomplete line acknowledged nothing.
    return lines.flatMap((line) => (line.endsWith("}") ? [JSON.parse(line) as AckedWrite] : []));
  }

  /** Checks every guarantee against the store, the witness and the acknowledgements. */
  async check(
    at: string,
    options: { readonly healed?: boolean; readonly zombies?: boolean } = {},
  ): Promise<Problem[]> {
    const calls = this.witness.calls();
    const effectRows = (await this.place.ledger?.()) ?? [];
    return this.read(async (store) => {
      const witnessed = (step: string) => !BRANCH.test(step);
      const healed = options.healed ?? true;
      const evidence = { calls, acked: this.acked(), effectRows, healed, witnessed, deed: deedOf };
      const violations = await checkInvariants(store, evidence);
      const twice = options.zombies === true ? [] : carriedOutTwice(calls);
      const undone = await undoProblems(store, calls);
      return [...violations, ...twice, ...undone].map(({ invariant, ...rest }) => ({
        at,
        rule: invariant,
        ...rest,
      }));
    });
  }

  async remove(): Promise<void> {
    await this.#lab.witness.forget(path.join(this.folder, "witness.jsonl"));
    await this.place.clear();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface LabOptions extends SpawnOptions {
  /** Default SQLite. The caller closes it. */
  readonly store?: StoreKind;
}

/** A folder for sites, and the witness that watches them all. */
export class Lab {
  readonly witness: Witness;
  readonly store: StoreKind;
  readonly #root: string;
  readonly #spawn: SpawnOptions;

  private constructor(witness: Witness, root: string, { store = sqliteKind, ...spawn }: LabOptions) {
    this.witness = witness;
    this.store = store;
    this.#root = root;
    this.#spawn = spawn;
  }

  static async open(options: LabOptions = {}): Promise<Lab> {
    const root = mkdtempSync(path.join(tmpdir(), "holdfast-crash-"));
    return new Lab(await startWitness({ file: path.join(root, "witness.jsonl") }), root, options);
  }

  /** The scenarios that this kind of store can run. */
  async scenarios(): Promise<readonly ScenarioName[]> {
    const site = await this.site();
    const { transactions } = await site.read(async ({ capabilities }) => capabilities);
    const isLedger = transactions !== false && site.place.ledger !== undefined;
    await site.remove();
    return scenarioNames.filter((name) => isLedger || name !== "ledger");
  }

  /** Creates an empty store and an empty witness log. */
  async site(): Promise<Site> {
    const folder = mkdtempSync(path.join(this.#root, "case-"));
    return new Site(this, folder, await this.witness.log(path.join(folder, "witness.jsonl")));
  }

  spawn(configs: readonly ChildConfig[], options: SpawnOptions = {}): WorkerProcess {
    const all = { patienceMs: PATIENCE_MS, ...this.#spawn, ...options };
    const slowness = OPENINGS * this.store.openMs * configs.length;
    return spawnWorker(configs, { ...all, patienceMs: all.patienceMs + slowness });
  }

  async close(): Promise<void> {
    await this.witness.stop();
    rmSync(this.#root, { recursive: true, force: true });
  }
}

/** A store that opens slowly is slow in everything, so its workers get the time of this many openings more. */
const OPENINGS = 20;

/** Branches of a group only contain steps; everything else calls the witness. */
const BRANCH = /^(match|side)\[\w+\]$/;

/** The responder lets a step run again only when the witness hasn't seen it, so no `once` step may happen twice. */
function carriedOutTwice(calls: readonly LoggedCall[]): Violation[] {
  const done = new Map<string, LoggedCall[]>();
  for (const call of calls) {
    if (call.effect === "repeatable" || call.outcome !== "done") continue;
    const where = `${call.runId} ${call.deed}`;
    done.set(where, [...(done.get(where) ?? []), call]);
  }
  return [...done.values()].flatMap((list) => {
    const [first] = list;
    if (!first || list.length < 2) return [];
    const invariant = first.effect === "once" ? "I3" : "I4";
    return [
      { invariant, runId: first.runId, message: `Step ${first.step} was carried out ${list.length} times.` },
    ];
  });
}

/** Differences between the actual and the expected ends of runs. */
export function resultProblems(
  at: string,
  runs: readonly RunPlan[],
  end: ChildEnd,
  expected: Expectations,
  index = 0,
): Problem[] {
  const report = end.reports[index];
  if (!report) {
    const why = end.isOverdue ? "it did not come to an end" : `it ended with ${end.code ?? end.signal}`;
    return [
      {
        at,
        rule: "I10",
        runId: "",
        message: `The last worker could not finish: ${why}. ${end.stderr}`.trim(),
      },
    ];
  }
  return runs.flatMap(({ id, scenario }) => {
    const found = report.results[id];
    const wanted = expected[scenario];
    if (!wanted || (found?.status === wanted.status && isDeepStrictEqual(found.value, wanted.value)))
      return [];
    const message = `It ended as ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}.`;
    return [{ at, rule: "result" as const, runId: id, message }];
  });
}

/** Checks all runs that the worker reports. The name of each begins with its scenario's. */
export function allResultProblems(
  at: string,
  runs: readonly RunPlan[],
  end: ChildEnd,
  expected: Expectations,
): Problem[] {
  const ids = new Set([...runs.map(({ id }) => id), ...Object.keys(end.reports[0]?.results ?? {})]);
  const plans = [...ids].map((id): RunPlan => ({ id, scenario: id.split("-")[0] as ScenarioName }));
  return resultProblems(at, plans, end, expected);
}
