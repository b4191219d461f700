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

/** A broken promise, or something about the case itself that is not as it must be. */
export interface Problem {
  /** Which case, in words that let it be repeated. */
  readonly at: string;
  readonly rule: Violation["invariant"] | "result" | "retention" | "harness";
  readonly runId: string;
  readonly message: string;
}

export type Expectations = Readonly<Partial<Record<ScenarioName, Omit<RunOutcome, "waiting">>>>;

export type WorkPlan = Omit<ChildConfig, "store" | "witnessPort" | "witnessLog" | "ackFile"> & {
  /** Another way to the same store. */
  readonly store?: StoreAddress;
};

/** Where one case happens: a place of its own in the store, a log of the witness and the log of acknowledgements. */
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

  /** The store as it is, for this process. */
  read<T>(use: (store: Store) => Promise<T>): Promise<T> {
    return withStoreAt(this.place.address, use);
  }

  /** Starts a worker process on the site's store. */
  start(plan: WorkPlan, spawn: SpawnOptions = {}): WorkerProcess {
    return this.#lab.spawn([this.config(plan)], spawn);
  }

  /** The same, and waits for its end. */
  run(plan: WorkPlan, spawn?: SpawnOptions): Promise<ChildEnd> {
    return this.start(plan, spawn).ended;
  }

  acked(): AckedWrite[] {
    const file = path.join(this.folder, "acks.jsonl");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").split("\n");
    // A worker may have been killed in the middle of its last line; nothing was acknowledged to anyone by half a line.
    return lines.flatMap((line) => (line.endsWith("}") ? [JSON.parse(line) as AckedWrite] : []));
  }

  /** Every promise, checked against the store, the witness and the acknowledgements. */
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
  /** Default SQLite. Who made it closes it. */
  readonly store?: StoreKind;
}

/** A folder for sites and the witness that watches them all. */
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

  /** The scenarios that its kind of store can run. */
  async scenarios(): Promise<readonly ScenarioName[]> {
    const site = await this.site();
    const { transactions } = await site.read(async ({ capabilities }) => capabilities);
    const isLedger = transactions !== false && site.place.ledger !== undefined;
    await site.remove();
    return scenarioNames.filter((name) => isLedger || name !== "ledger");
  }

  /** An empty store and a witness that has seen nothing of it. */
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

/** A store that takes long to open is slow in all it does: its workers are given the time of so many openings more. */
const OPENINGS = 20;

/** Branches of a group only hold steps; everything else calls the witness. */
const BRANCH = /^(match|side)\[\w+\]$/;

/** The responder lets a step run again only when the witness has not seen it; so nothing `once` happens twice. */
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

/** What differs between how the runs ended and how they must end. */
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

/** The same for all that the worker tells of. The name of each run begins with its scenario's. */
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
