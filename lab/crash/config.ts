import type { Point } from "../../src/core/ports.ts";
import type { RunStatus } from "../../src/core/types.ts";
import type { StoreAddress } from "../../src/testing/store-address.ts";
import type { ScenarioVersion } from "./names.ts";
import type { ScenarioName } from "./scenarios.ts";

/** Where a worker process is struck: at a named point of the protocol, or on one side of one of its writes. */
export type Strike =
  | { readonly point: Point; readonly nth: number }
  /** With `claimed` only writes count that the engine makes as the holder of a claim. */
  | { readonly write: number; readonly side: "before" | "after"; readonly claimed?: true };

export interface RunPlan {
  readonly id: string;
  readonly scenario: ScenarioName;
}

/** What a person does to every run while one of its steps is under way. Done again by every process, as people do. */
export type PlannedAct =
  | { readonly kind: "pause"; readonly step: string }
  | {
      readonly kind: "resume";
      /** With an id it is clicked twice, by every process. */
      readonly id?: string;
      readonly inject?: unknown;
      readonly set?: { readonly memory: Readonly<Record<string, unknown>> };
    }
  | { readonly kind: "cancel"; readonly step: string }
  /** Once, when the process starts: from where this step was done. */
  | { readonly kind: "fork"; readonly source: string; readonly step: string };

/** What people do to the runs besides, drawn from the seed: so many acts at most. */
export interface PlannedControl {
  readonly seed: number;
  readonly acts: number;
}

/** Everything a worker process is told, as JSON on its command line. */
export interface ChildConfig {
  readonly store: StoreAddress;
  readonly witnessPort: number;
  readonly witnessLog: string;
  /** Every acknowledged append is added here, one line of JSON each. */
  readonly ackFile: string;
  readonly runs: readonly RunPlan[];
  readonly kill?: Strike | null;
  /** SIGSTOP instead; the parent is told on standard output first. */
  readonly freeze?: Strike | null;
  readonly claimMs?: number;
  readonly maxRecoveries?: number;
  readonly concurrency?: number;
  readonly act?: PlannedAct;
  readonly control?: PlannedControl;
  /** The code that the process has. Default "1". */
  readonly version?: ScenarioVersion;
  /** Part of what `mail` is called with: other arguments in the same place. */
  readonly salt?: string;
  /** A person is asked before each `once` step. */
  readonly policy?: "ask";
  /** Starts every run so many times at once. */
  readonly starts?: number;
  /** When to end: all runs ended, or nothing left to do without a person; then approvals stay open too. */
  readonly until?: "ended" | "settled";
  /** Other processes work on the same store: only the runs named here are waited for. */
  readonly shared?: boolean;
  /** Goes on starting runs of these plans, each under new ids, for so long or until SIGHUP. */
  readonly repeatMs?: number;
  /** The store may go away for a while: what the people around the runs do is then done again. */
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
  /** Appends the store refused, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  readonly recoveries: number;
  /** Runs started, for a worker that goes on starting them. */
  readonly started: number;
  /** What the engine logged as errors. */
  readonly errors: readonly string[];
}
