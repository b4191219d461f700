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
 * | a claim | the result of the activity `offer`, or an append; it lasts as long as the life of its worker |
 * | the life of a worker | a workflow `holdfastWorker` with one activity, whose heartbeat names the runs that the worker has |
 * | a worker that died | the heartbeat timeout of its life: another worker tells the runs that it had, and they are offered again |
 * | a run that is due | the activity `offer` on the shared task queue |
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

/** The signal that ends a claim: the life that it was taken in is over, or its worker has given it up. */
export const LOST = "lost";

/** The workflow that is as long as a worker's life. */
export const WORKER_WORKFLOW = "holdfastWorker";

/**
 * `offer`: who takes this run? `live`: a worker's life, by its heartbeat. `bury`: tell the runs of a life that has
 * ended. `probe`: does a life last?
 */
export const ACTIVITIES = { offer: "offer", live: "live", bury: "bury", probe: "probe" } as const;

/** The sink that tells the process of a sandbox what came of an append, with nothing in the history. */
export const SINK = "holdfast";

/** The fields of the memo: what a list shows without asking a worker. */
export const MEMO = { row: "holdfastRow", identity: "holdfastIdentity", life: "holdfastLife" } as const;

/** The task queue of one worker, for its life. */
export const ownQueue = (taskQueue: string, worker: string): string => `${taskQueue}:${worker}`;

export const workerId = (queue: string): string => `holdfast-worker:${queue}`;

/** Names the life of a worker; it has another one after each that Temporal has declared over. */
export const lifeOf = (worker: string, execution: string, number: number): string =>
  `${worker}#${execution}.${number}`;

/** The id of the workflow whose life this is. */
export const workerOf = (life: string): string => life.slice(0, life.lastIndexOf("#"));

/** An append on its way into the sandbox. `blobs` that were stored elsewhere aren't in it. */
export interface AppendMessage {
  readonly append: Append;
  /** Names this message, so that its sender can ask for the answer. */
  readonly number: string;
  /** With a claim: the life of the worker that takes it. */
  readonly life?: string;
}

/** A row as the sandbox has it. `isHeld`: the life that it was claimed in lasts, as far as anybody knows. */
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
  /** The run's position. */
  readonly to: number;
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
  /** The life of the worker that has the claim. */
  readonly life: string | null;
  /** Lives that are over: no claim that is late may be taken in them. */
  readonly buried: readonly string[];
}

export interface RunSettings {
  /** The longest silence of a worker before its claims expire. */
  readonly heartbeatMs: number;
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

/** The argument of the activity `offer`: the row at the time it was scheduled. */
export interface Offer {
  readonly row: RunRow;
}

/** How an offer ends. */
export interface OfferEnd {
  /** False: the run is to be offered again, after a pause. */
  readonly taken: boolean;
  readonly why?: "no-code" | "left";
  /** The claim of the worker that takes it. */
  readonly claim?: AppendMessage;
  /** The worker has its claim still, though the life is over that it was taken in. */
  readonly kept?: { readonly token: string; readonly life: string };
}

/** What has ended: a life, with every claim that was taken in it, or a claim. */
export type Loss = { readonly life: string } | { readonly token: string };

export interface WorkerArguments {
  /** The task queue of this worker alone. */
  readonly queue: string;
  readonly heartbeatMs: number;
}

/** The argument of the activity `bury`. */
export interface Burial {
  readonly life: string;
  /** The runs that the worker had. */
  readonly held: readonly string[];
}

/**
 * How long a worker may take for one step of a sandbox: milliseconds are usual, and one that died takes all of it. No
 * longer than it takes to notice the death, which is the other half of a recovery.
 */
export const TASK_MS = 1_200;

/** Bytes that one answer or one argument may have: Temporal refuses payloads of 2 MB. */
export const MOST_BYTES = 1_500_000;
