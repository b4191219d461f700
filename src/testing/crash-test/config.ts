import type { ErrorCode } from "../../core/errors.ts";
import type { RunStatus } from "../../core/types.ts";
import type { StoreAddress } from "../store-address.ts";
import type { CrashFault, Place, Strike } from "./places.ts";

/** How a process loads the workflow: a module whose `load(...args)` returns it. The arguments travel as JSON. */
export interface Loader {
  /** The path or URL of the module. */
  readonly module: string;
  readonly args: readonly unknown[];
  /** Options for Node.js itself, such as `--import tsx`. */
  readonly execArgv?: readonly string[];
}

/** The complete configuration of a process under test. */
export interface SceneConfig {
  readonly loader: Pick<Loader, "module" | "args">;
  readonly store: StoreAddress;
  /** The case's own folder, for acknowledgements, the moment of the fault and the result. */
  readonly folder: string;
  /** The witness's port and log, in the format of the environment variable. */
  readonly witness: string;
  readonly runId: string;
  /** If omitted, the loader's own input, if any. */
  readonly input?: unknown;
  /** `run`: until the run has ended. `replay`: replays the journal without calling anything. */
  readonly mode: "run" | "replay";
  readonly fault: CrashFault;
  readonly strike: Strike | null;
  readonly claimMs: number;
  readonly answers: Readonly<Record<string, string>>;
  readonly signals: Readonly<Record<string, unknown>>;
  /** The values that steps returned in an uninterrupted run, as stored, by run and step. */
  readonly known: Readonly<Record<string, string>>;
}

/** A step with an unknown outcome, and what the witness's log said about it. */
export interface Settlement {
  readonly step: string;
  readonly effect: string;
  readonly as: "done" | "rerun";
}

/** The wait that the run can't get past. */
export interface Stuck {
  readonly kind: string;
  readonly step: string;
  readonly text: string;
  /** The signals it waits for. */
  readonly names?: readonly string[];
}

/** The result file of a process that ends normally. */
export interface SceneResult {
  readonly workflow: { readonly name: string; readonly version: string };
  readonly store: { readonly name: string; readonly durability: string };
  readonly status: RunStatus | "missing";
  /** The returned value, as stored. */
  readonly value: string | null;
  readonly error: string | null;
  readonly stuck: Stuck | null;
  /** True when it failed and was undone, so that it can't be resumed by design. */
  readonly undone: boolean;
  readonly places: readonly Place[];
  readonly writes: number;
  /** When it had claimed the run and written again, in epoch milliseconds; null when nothing was left to do. */
  readonly backAt: number | null;
  readonly readyAt: number;
  readonly settled: readonly Settlement[];
  readonly answered: number;
  readonly signalled: number;
  readonly replay: { readonly asked: readonly string[]; readonly notAsked: readonly string[] } | null;
}

/** The moment when a fault was injected, and what the process was about to do or had just done. */
export interface Struck {
  readonly at: number;
  readonly label: string;
}

/** Why a process couldn't start: one of our errors, by its parts, or any other. */
export interface SceneFailure {
  readonly code: ErrorCode | null;
  readonly detail: Readonly<Record<string, string | number>>;
  readonly message: string;
}

export const RESULT_FILE = "result.json";
export const FAILURE_FILE = "failure.json";
export const STRUCK_FILE = "struck";
export const ACK_FILE = "acks.jsonl";
export const WITNESS_FILE = "witness.jsonl";
/** The exit code of a process that couldn't load the workflow. */
export const NOT_LOADED = 3;
