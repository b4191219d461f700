import type { Append, AppendResult, Entry } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";

/**
 * What the workflow sandbox and everybody outside it say to each other. Both sides import this file and nothing of the
 * other, so it has no import with behaviour.
 *
 * A Holdfast run is one Temporal workflow execution (and those that continue it as new) with the run's id as workflow
 * id. The sandbox holds the run's row and journal and knows nothing of steps, so no deploy of user code can make its
 * history non-deterministic. It does what a store does, and what only Temporal can do:
 *
 * | Holdfast | Temporal |
 * |---|---|
 * | a run | a workflow `holdfastRun` with the run's id |
 * | an append: the outcome of a step and the intent of the next | the signal `append`, checked against epoch, token and position; the query `answer` says what came of it |
 * | a claim | the activity `hold` on the worker that advances the run; its heartbeat renews the claim |
 * | a worker that died | the heartbeat timeout of `hold`: the claim expires, and the run is offered again |
 * | a run that is due | `hold` on the shared task queue |
 * | a timer | a timer until `wakeAt` |
 * | an act from outside (pause, answer, resolve, signal) | the signal `append`, bound by position |
 * | reads | the queries `row`, `entries`, `blobs`, `carried`: nothing of a read is in the history |
 * | a long journal | `continueAsNew` with {@link Carried}; older entries stay in the executions that wrote them |
 */
export const RUN_WORKFLOW = "holdfastRun";

/** The workflow that keeps the identity of a store: one for each task queue, without an end. */
export const STORE_WORKFLOW = "holdfastStore";

export const storeWorkflowId = (taskQueue: string): string => `holdfast-store:${taskQueue}`;

/**
 * The signal that appends. Not an Update, though that would answer by itself: replays may order the commands around an
 * Update differently than they were made (temporalio/sdk-rust#943), and a run must never depend on that. A message that
 * arrives twice counts once, because the journal already has its head.
 */
export const APPEND = "append";

/** What came of a message: asked for by its number, right after the signal. */
export const QUERIES = {
  answer: "answer",
  row: "row",
  entries: "entries",
  blobs: "blobs",
  carried: "carried",
} as const;

/** The activity that is a claim. */
export const HOLD = "hold";

/** The fields of the memo: what a list shows without asking a worker. */
export const MEMO = { row: "holdfastRow", identity: "holdfastIdentity" } as const;

/** The task queue of one worker, for a run that this worker already advances. */
export const ownQueue = (taskQueue: string, worker: string): string => `${taskQueue}:${worker}`;

/** An append on its way into the sandbox. `blobs` that were stored elsewhere aren't in it. */
export interface AppendMessage {
  readonly append: Append;
  /** Names this message, so that its sender can ask for the answer. */
  readonly number: string;
  /** The task queue of the worker that claims it, with a claim. */
  readonly queue?: string;
  /** With a claim: the offer that its worker was given, if any. */
  readonly offer?: string | undefined;
}

/** A row as the sandbox has it. `isHeld`: the activity of its claim is alive, or on its way. */
export interface HeldRow {
  readonly row: RunRow;
  readonly isHeld: boolean;
}

/** The answer to an append: a refusal carries the row in {@link HeldRow}. */
export type AppendAnswer =
  | { readonly ok: true }
  | (Omit<AppendResult & { readonly ok: false }, "row"> & { readonly held: HeldRow | null });

/** Entries that an execution of this run wrote before it was continued as new. */
export interface Past {
  readonly execution: string;
  readonly from: number;
  readonly to: number;
}

export interface EntriesQuery {
  readonly from: number;
  readonly limit: number;
}

/** A page of entries, as far as one answer may be long. */
export interface EntriesPage {
  readonly entries: readonly Entry[];
  /** Where older ones are, oldest first; those in `entries` are the execution's own. */
  readonly past: readonly Past[];
}

/** Blobs by hash, as far as one answer may be long; `rest`: hashes to ask for again. */
export interface BlobsPage {
  readonly found: Readonly<Record<string, string>>;
  readonly rest: readonly string[];
  readonly past: readonly Past[];
}

/** What one execution hands to the next, or to the one that takes an ended run up again. */
export interface Carried {
  readonly row: RunRow;
  readonly entries: readonly Entry[];
  readonly blobs: Readonly<Record<string, string>>;
  readonly past: readonly Past[];
  /** The task queue of the worker that has the claim. */
  readonly queue: string | null;
}

export interface RunSettings {
  /** The longest silence of a worker before its claims expire. */
  readonly heartbeatMs: number;
  /** How long a worker that has the run may take to accept its claim's next activity. */
  readonly adoptMs: number;
  /** Appends after which the execution is continued as new; a history may have about 50,000 events. */
  readonly appendsPerExecution: number;
}

/** The argument of the workflow: a new run, or one that goes on. */
export interface RunArguments {
  readonly settings: RunSettings;
  readonly create?: AppendMessage;
  readonly carried?: Carried;
  /** With `carried`: the append that takes an ended run up again. */
  readonly reopen?: AppendMessage;
}

/** The argument of the activity `hold`: the row at the time it was scheduled. */
export interface HoldOffer {
  readonly row: RunRow;
  /** Names this offer, so that a claim can say that it takes it. */
  readonly id: string;
}

/** How a hold ends: the worker has let the run go, or hasn't taken it at all, and why. */
export interface HoldEnd {
  readonly taken: boolean;
  readonly why?: "no-code" | "left";
}

/** Bytes that one answer or one argument may have: Temporal refuses payloads of 2 MB. */
export const MOST_BYTES = 1_500_000;
