import type { Loader } from "./config.ts";
import type { CrashFault } from "./places.ts";
import type { CaseReport } from "./report.ts";

/** Options of `crashTest`. */
export interface CrashTestOptions {
  /** The file that exports the workflow. */
  readonly file: string;
  /** The name of the export, if there are several. */
  readonly export?: string;
  /** Another way to load the workflow; `file` is then only its name in the report. */
  readonly loader?: Loader;
  /** The run's input: plain JSON. */
  readonly input?: unknown;
  /**
   * `sqlite` (the default), `file`, `pglite`, or the URL of a PostgreSQL or Redis server. Each case has its own place
   * in it.
   */
  readonly store?: string;
  /** `every` boundary (the default), `random` ones, or the name of a step. */
  readonly at?: string;
  /** Default `sigkill`. */
  readonly fault?: CrashFault;
  /** The seed for random choices. Default 1. */
  readonly seed?: number;
  /** The maximum number of cases, evenly spread; 0 for all. Default 100. */
  readonly limit?: number;
  /** Runs only the case with this name from the report. */
  readonly case?: string;
  /** Also kills the recovering process, at a random place. */
  readonly twice?: boolean;
  /** The choice to make at each gate. Default: the first one. */
  readonly answers?: Readonly<Record<string, string>>;
  /** The payload to send to each signal wait. */
  readonly signals?: Readonly<Record<string, unknown>>;
  /** The number of concurrent cases. Default 2. */
  readonly lanes?: number;
  /** How long a claim lasts; a dead process's run can be claimed after that. Default 500. */
  readonly claimMs?: number;
  /** How long one process may take. Default: the duration of an uninterrupted one plus 20 s. */
  readonly patienceMs?: number;
  /** The command that repeats one case, for the report. */
  readonly command?: (caseId: string) => string;
  readonly onProgress?: (progress: CrashTestProgress) => void;
  /** Aborts everything at once and throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/** How far a crash test has come. */
export interface CrashTestProgress {
  readonly phase: "baseline" | "cases";
  readonly done: number;
  readonly total: number;
  readonly broken: number;
  readonly last?: CaseReport;
}
