import type { Loader } from "./config.ts";
import type { CrashFault } from "./places.ts";
import type { CaseReport } from "./report.ts";

export interface CrashTestOptions {
  /** The file that exports the workflow. */
  readonly file: string;
  /** Which of its exports, when there are several. */
  readonly export?: string;
  /** Another way to get at the workflow; `file` is then only its name in the report. */
  readonly loader?: Loader;
  /** What the run is started with: plain JSON. */
  readonly input?: unknown;
  /** `sqlite` (the default), `file`, `pglite`, or the URL of a PostgreSQL or Redis server. Each case has a place of its own in it. */
  readonly store?: string;
  /** `every` boundary (the default), `random` ones, or the name of a step. */
  readonly at?: string;
  /** Default `sigkill`. */
  readonly fault?: CrashFault;
  /** Decides what is drawn by chance. Default 1. */
  readonly seed?: number;
  /** At most so many cases, evenly spread; 0 for all. Default 100. */
  readonly limit?: number;
  /** Only the case of this name, as the report has it. */
  readonly case?: string;
  /** The process that recovers is killed too, at a place drawn by chance. */
  readonly twice?: boolean;
  /** Which choice to make at a gate; the first one unless given. */
  readonly answers?: Readonly<Record<string, string>>;
  /** What to send to whoever waits for a signal of that name. */
  readonly signals?: Readonly<Record<string, unknown>>;
  /** Cases at a time. Default 2. */
  readonly lanes?: number;
  /** How long a claim lasts; a dead process's run can be taken when it has run out. Default 500. */
  readonly claimMs?: number;
  /** How long one process may take. Default: what an uninterrupted one takes, and 20 s. */
  readonly patienceMs?: number;
  /** The command that repeats one case, for the report. */
  readonly command?: (caseId: string) => string;
  readonly onProgress?: (progress: CrashTestProgress) => void;
  /** Ends everything at once; what it was aborted with is thrown. */
  readonly signal?: AbortSignal;
}

export interface CrashTestProgress {
  readonly phase: "baseline" | "cases";
  readonly done: number;
  readonly total: number;
  readonly broken: number;
  readonly last?: CaseReport;
}
