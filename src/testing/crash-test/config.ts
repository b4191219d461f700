import type { ErrorCode } from "../../core/errors.ts";
import type { RunStatus } from "../../core/types.ts";
import type { StoreAddress } from "../store-address.ts";
import type { CrashFault, Place, Strike } from "./places.ts";

/**
 * How a process gets at the workflow: a module whose `load(...args)` answers it. The arguments travel as JSON.
 */
export interface Loader {
  /** Path or URL of the module. */
  readonly module: string;
  readonly args: readonly unknown[];
  /** Options for Node.js itself, such as `--import tsx`. */
  readonly execArgv?: readonly string[];
}

/** Everything a process under test is told. */
export interface SceneConfig {
  readonly loader: Pick<Loader, "module" | "args">;
  readonly store: StoreAddress;
  /** The case's own folder: acknowledgements, the moment of the strike and the result are left here. */
  readonly folder: string;
  /** As in the environment: port and log of the witness. */
  readonly witness: string;
  readonly runId: string;
  /** Absent: the loader's own, if it has one. */
  readonly input?: unknown;
  /** `run`: until it has ended. `replay`: go over what is recorded, calling nothing. */
  readonly mode: "run" | "replay";
  readonly fault: CrashFault;
  readonly strike: Strike | null;
  readonly claimMs: number;
  readonly answers: Readonly<Record<string, string>>;
  readonly signals: Readonly<Record<string, unknown>>;
  /** What steps returned in an uninterrupted run, as stored, by run and step. */
  readonly known: Readonly<Record<string, string>>;
}

/** A step whose outcome was unknown, and what the witness's log said about it. */
export interface Settlement {
  readonly step: string;
  readonly effect: string;
  readonly as: "done" | "rerun";
}

/** What the run waits for without end. */
export interface Stuck {
  readonly kind: string;
  readonly step: string;
  readonly text: string;
  /** The signals it waits for. */
  readonly names?: readonly string[];
}

/** What a process leaves behind when it ends by itself. */
export interface SceneResult {
  readonly workflow: { readonly name: string; readonly version: string };
  readonly store: { readonly name: string; readonly durability: string };
  readonly status: RunStatus | "missing";
  /** What it returned, as stored. */
  readonly value: string | null;
  readonly error: string | null;
  readonly stuck: Stuck | null;
  /** It failed and was undone: by design it cannot be resumed. */
  readonly undone: boolean;
  readonly places: readonly Place[];
  readonly writes: number;
  /** When it had claimed the run and written once more, in epoch milliseconds; null when nothing was left to do. */
  readonly backAt: number | null;
  readonly readyAt: number;
  readonly settled: readonly Settlement[];
  readonly answered: number;
  readonly signalled: number;
  readonly replay: { readonly asked: readonly string[]; readonly notAsked: readonly string[] } | null;
}

/** When a process was struck, and what it was about to do or had just done. */
export interface Struck {
  readonly at: number;
  readonly label: string;
}

/** Why a process could not even begin: an error of ours, by what it is made of, or any other. */
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
/** What a process that could not load the workflow ends with. */
export const NOT_LOADED = 3;
