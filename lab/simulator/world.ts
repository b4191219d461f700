import { createEngine, type Engine } from "../../src/core/engine/engine.ts";
import { HoldfastError } from "../../src/core/errors.ts";
import { seededIds } from "../../src/core/ids.ts";
import { silentLogger } from "../../src/core/logger.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { createFakeClock, type FakeClock } from "../../src/testing/fake-clock.ts";
import { createFaultyStore, type StoreFault, type StoreMethod } from "../../src/testing/faulty-store.ts";
import type { AckedWrite } from "../../src/testing/witness/log.ts";
import { createLedgerStore, type LedgerStore } from "./ledger-store.ts";
import { Machine, reach } from "./machine.ts";
import { migrationsOf, type ProgramVersion } from "./names.ts";
import { Outside } from "./outside.ts";
import { type Breakage, createProgram } from "./program.ts";
import { Random } from "./random.ts";
import type { ProgramInput, SimulatedFeature } from "./sections.ts";

export const CLAIM_MS = 3_000;
const SETTINGS = {
  claimMs: CLAIM_MS,
  sweepMs: 600,
  holdMs: 1_000,
  assumedStepMs: 2_000,
  storePatienceMs: 5_000,
  recovery: { maxAttempts: 3 },
} as const;

export interface WorldOptions {
  readonly wrapStore?: ((store: Store) => Store) | undefined;
  readonly breakage?: Breakage | undefined;
  readonly without: readonly SimulatedFeature[];
}

/** A process that advances runs. */
export interface SimulatedWorker {
  readonly machine: Machine;
  readonly engine: Engine;
  readonly program: ReturnType<typeof createProgram>;
  /** The faults for the next append, and for the n-th probe from now. */
  trap: "before" | "after" | null;
  probe: { left: number; strike: () => void } | null;
}

/** The state of one simulation. All randomness comes from the seed, all time from one clock. */
export class World {
  readonly random: Random;
  readonly clock: FakeClock;
  readonly outside: Outside;
  readonly ledger: LedgerStore;
  /** The store itself, without faults. */
  readonly store: Store;
  readonly acked: AckedWrite[] = [];
  readonly faults = new Map<string, number>();
  readonly workers: SimulatedWorker[] = [];
  /** The runs that people have requested, with their input. */
  readonly wanted = new Map<string, ProgramInput>();
  /** The runs that may be requested: the code knows the names of their steps in all its versions. */
  programs: readonly ProgramInput[] = [];
  /** The versions of the code that processes may have. */
  versions: readonly ProgramVersion[] = ["1"];
  storeSkewMs = 0;
  /** How often a process finds itself short of memory: it then takes no more runs, and saves those it has in full. */
  shortage = 0;
  /** Chooses the faults of store calls while faults are on. */
  weather: ((method: StoreMethod) => StoreFault | undefined) | null = null;
  readonly seed: number;
  readonly without: ReadonlySet<SimulatedFeature>;
  readonly #options: WorldOptions;
  #made = 0;

  constructor(seed: number, options: WorldOptions) {
    this.seed = seed;
    this.#options = options;
    this.without = new Set(options.without);
    this.random = new Random(seed);
    this.clock = createFakeClock({ quietTurns: 1 });
    this.outside = new Outside(this.random);
    this.ledger = createLedgerStore(seed, { now: () => this.clock.now() + this.storeSkewMs });
    this.store = options.wrapStore?.(this.ledger.store) ?? this.ledger.store;
  }

  count(fault: string): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  get living(): SimulatedWorker[] {
    return this.workers.filter(({ machine }) => !machine.dead);
  }

  /** Starts a process that advances runs. */
  spawn(): SimulatedWorker {
    const worker = this.#make(true);
    this.workers.push(worker);
    this.#work(worker);
    return worker;
  }

  /** A process whose store is down at the start retries on its own. */
  #work(worker: SimulatedWorker): void {
    worker.engine.work().catch((error: unknown) => {
      if (!HoldfastError.is(error, "HF-1008")) throw error;
    });
  }

  /** Starts a process that only observes and controls. */
  desk(): SimulatedWorker {
    return this.#make(false);
  }

  #make(execute: boolean): SimulatedWorker {
    const number = ++this.#made;
    const machine = new Machine(this.clock, `${execute ? "worker" : "desk"}-${number}`);
    const program = createProgram(this.outside, machine, {
      version: this.random.pick(this.versions),
      migrations: migrationsOf(this.programs),
      breakage: this.#options.breakage,
    });
    const view = createFaultyStore(this.store, {
      clock: this.clock,
      choose: (method) => (execute ? this.#fault(worker, method) : undefined),
      onAck: (write) => void this.acked.push(write),
    });
    const engine = createEngine({
      ...SETTINGS,
      store: reach(view, machine),
      workflows: [program],
      execute,
      owner: machine.name,
      clock: machine.clock,
      ids: seededIds(this.seed * 1_000 + number),
      logger: silentLogger,
      probe: () => strikeAtProbe(worker),
      pressure: () => this.#pressure(),
    });
    const worker: SimulatedWorker = { machine, engine, program, trap: null, probe: null };
    return worker;
  }

  #pressure(): number {
    if (this.shortage === 0 || !this.random.chance(this.shortage)) return 0;
    this.count("memory shortage");
    return 1;
  }

  #fault(worker: SimulatedWorker, method: StoreMethod): StoreFault | undefined {
    if (worker.trap && (method === "append" || method === "transaction")) {
      const { trap } = worker;
      worker.trap = null;
      worker.machine.kill();
      // The write of a process that dies after sending it is accepted; its answer is lost.
      return trap === "before" ? { kind: "stall" } : undefined;
    }
    return this.weather?.(method);
  }
}

function strikeAtProbe(worker: SimulatedWorker): void {
  const { probe } = worker;
  if (!probe || --probe.left > 0) return;
  worker.probe = null;
  probe.strike();
}
