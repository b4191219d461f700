import type { StartOptions } from "../../../core/options.ts";
import type { Blob, Entry, StoreIdentity } from "../../../core/store/contract.ts";
import type { Effect, RunRow } from "../../../core/types.ts";

/**
 * What an interpreted run inside the sandbox and everybody outside say to each other. Every message is one text of
 * Holdfast's codec, so that values arrive exactly, whatever converter Temporal uses.
 *
 * | Holdfast | Temporal |
 * |---|---|
 * | a run | a workflow `holdfastInterpreter` with the run's id; the engine that advances it runs inside |
 * | a call of a model, a tool, a script, a server | an activity `holdfast.<name>` |
 * | `repeatable`, `keyed` | the activity is started again when its worker is gone, with the same key |
 * | `once` | one attempt: when its worker is gone, the step is in doubt |
 * | a thrown error | the activity fails for good; the engine decides about the next attempt |
 * | a timer, a retry's pause | a timer |
 * | an act (pause, answer, resolve, …) | the Update `act` |
 * | a read | the query `journal`: the whole journal, which an engine outside reads |
 * | a long journal | `continueAsNew` with the journal so far |
 */
export const INTERPRETER = "holdfastInterpreter";

export const ACT = "act";

export const JOURNAL = "journal";

/** The names of activities begin with it. */
export const ACTIVITY = "holdfast.";

/** Everything that interpreters ask for by name. */
export const CALLS = ["model", "tool", "connect", "script", "task", "verify", "ail", "hil"] as const;

/** A failure of an activity whose detail is the error that a function has thrown. */
export const THROWN = "HoldfastThrown";

/** A failure of an activity that was never begun: this worker hasn't the code. */
export const NO_CODE = "HoldfastNoCode";

/** A failure of an act or a run whose detail is the error. */
export const REFUSED = "HoldfastRefused";

/** The argument of the workflow. */
export interface InterpreterArguments {
  readonly workflow: {
    readonly name: string;
    readonly version: string;
    readonly kind: string;
    readonly data: unknown;
  };
  /** Key material for idempotency keys, and the name of the store in the sandbox. */
  readonly identity: StoreIdentity;
  readonly settings: InterpreterSettings;
  /** A run to start. */
  readonly start?: { readonly input: unknown; readonly options: Omit<StartOptions, "id"> };
  /** A run that goes on: from an execution before this one, or from another store. */
  readonly carried?: CarriedRuns;
}

/** When a run is continued in another execution, and how long its calls may take. */
export interface InterpreterSettings {
  /** The longest silence of a worker before its calls count as interrupted. */
  readonly heartbeatMs: number;
  /** The longest that one call may take. */
  readonly callMs: number;
  /** Events of history after which the execution is continued as new. */
  readonly eventsPerExecution: number;
}

/** Runs with their journals: the run itself, and those that it has started. */
export type CarriedRuns = readonly {
  readonly row: RunRow;
  readonly entries: readonly Entry[];
  readonly blobs: readonly Blob[];
}[];

/** What the query answers: everything that another execution, or a copy, needs to go on. */
export type JournalAnswer = Pick<InterpreterArguments, "identity"> & { readonly runs: CarriedRuns };

/** An act on the run: a verb of the engine and what comes after the run's id. */
export interface ActMessage {
  readonly verb: Verb;
  readonly args: readonly unknown[];
}

export const VERBS = ["pause", "resume", "cancel", "signal", "inject", "answer", "resolve", "retry"] as const;
export type Verb = (typeof VERBS)[number];

/** The argument of an activity. */
export interface CallMessage {
  readonly workflow: string;
  readonly version: string;
  readonly name: string;
  readonly args: unknown;
  readonly call: {
    readonly runId: string;
    readonly step: string;
    readonly attempt: number;
    readonly epoch: number;
    readonly key: string;
    readonly effect: Effect;
  };
}

/** Bytes that may be carried from one execution to the next: Temporal refuses payloads of 2 MB. */
export const MOST_CARRIED = 1_900_000;
