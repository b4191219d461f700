import type { Point } from "../../src/core/ports.ts";
import type { RunStatus } from "../../src/core/types.ts";
import type { StoreAddress } from "../../src/testing/store-address.ts";
import type { ScenarioVersion } from "./names.ts";
import type { ScenarioName } from "./scenarios.ts";

/** Where a worker process is killed: at a named point of the protocol, or before or after one of its writes. */
export type Strike =
  | { readonly point: Point; readonly nth: number }
  /** With `claimed`, only writes under a claim count. */
  | { readonly write: number; readonly side: "before" | "after"; readonly claimed?: true };

export interface RunPlan {
  readonly id: string;
  readonly scenario: ScenarioName;
}

/** An act of a person on every run while one of its steps is in progress. Every process repeats it, as people do. */
export type PlannedAct =
  | { readonly kind: "pause"; readonly step: string }
  | {
      readonly kind: "resume";
      /** With an id, every process sends it twice. */
      readonly id?: string;
      readonly inject?: unknown;
      readonly set?: { readonly memory: Readonly<Record<string, unknown>> };
    }
  | { readonly kind: "cancel"; readonly step: string }
  /** Done once, when the process starts: forks where this step was done. */
  | { readonly kind: "fork"; readonly source: string; readonly step: string };

/** Further random acts of people, drawn from the seed, up to this number. */
export interface PlannedControl {
  readonly seed: number;
  readonly acts: number;
}

/** The complete configuration of a worker process, as JSON on its command line. */
export interface ChildConfig {
  readonly store: StoreAddress;
  readonly witnessPort: number;
  readonly witnessLog: string;
  /** Every acknowledged append is added here, as one line of JSON. */
  readonly ackFile: string;
  readonly runs: readonly RunPlan[];
  readonly kill?: Strike | null;
  /** Sends SIGSTOP instead; the parent is told on standard output first. */
  readonly freeze?: Strike | null;
  readonly claimMs?: number;
  readonly maxRecoveries?: number;
  readonly concurrency?: number;
  readonly act?: PlannedAct;
  readonly control?: PlannedControl;
  /** The version of the process's code. Default "1". */
  readonly version?: ScenarioVersion;
  /** Part of the arguments of `mail`: changes the arguments at the same place. */
  readonly salt?: string;
  /** A person is asked before each `once` step. */
  readonly policy?: "ask";
  /** The number of simultaneous starts of every run. */
  readonly starts?: number;
  /**
   * When to end: when all runs have ended, or when nothing can be done without a person; then approvals stay open too.
   */
  readonly until?: "ended" | "settled";
  /** Other processes work on the same store, so only the runs named here are waited for. */
  readonly shared?: boolean;
  /** Keeps starting runs of these plans under new ids, for this long or until SIGHUP. */
  readonly repeatMs?: number;
  /** The store may be unavailable for a while; people's acts are then repeated. */
  readonly patient?: boolean;
}

export interface RunOutcome {
  readonly status: RunStatus;
  readonly waiting: readonly string[];
  readonly value: unknown;
}

/** The last line a worker process prints. */
export interface ChildReport {
  readonly results: Readonly<Record<string, RunOutcome>>;
  readonly writes: number;
  readonly points: Readonly<Partial<Record<Point, number>>>;
  /** Refused appends, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  readonly recoveries: number;
  /** The number of started runs, for a worker that keeps starting them. */
  readonly started: number;
  /** The engine's logged errors. */
  readonly errors: readonly string[];
}
