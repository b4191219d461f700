/** The words of Holdfast as types. Nothing here has behaviour. */

/** What may happen to a step whose outcome is unknown after a crash. */
export type Effect = "repeatable" | "keyed" | "once";

/** Where a run stands. `failed` and `paused` can be resumed; `completed` and `cancelled` cannot. */
export type RunStatus = "queued" | "running" | "waiting" | "paused" | "completed" | "failed" | "cancelled";

/** The named things a run can wait for. */
export type WaitKind = "gate" | "timer" | "signal" | "child" | "retry" | "decision" | "review";

/** One thing a run waits for: what, since when, until when. */
export interface Waiting {
  readonly kind: WaitKind;
  readonly step: string;
  readonly since: number;
  readonly until?: number;
  /** Names of the signals it waits for. */
  readonly names?: readonly string[];
  /** Child run id, error message: what a person needs to see. */
  readonly detail?: string;
}

/** A request that the owner of a run has still to obey. */
export type Control = "none" | "pausing" | "compensating";

/** Where a child run came from. */
export interface Parent {
  readonly runId: string;
  readonly step: string;
}

/** Tokens and money, summed over a run. Cost is in US dollars. */
export interface Usage {
  readonly tokens: number;
  readonly costUsd: number;
}

/** What a run is: written once, when it is created. */
export interface RunIdentity {
  readonly id: string;
  readonly workflow: string;
  readonly version: string;
  /** Part of every idempotency key: equal to the id, and new for a fork. */
  readonly lineage: string;
  readonly parent: Parent | null;
  readonly createdAt: number;
}

/** What changes with every append: a projection of the journal, so that lists need not read it. */
export interface RunProjection {
  readonly status: RunStatus;
  readonly control: Control;
  readonly waiting: readonly Waiting[];
  /** When a worker may next claim the run; `null` while only an outside act can move it. */
  readonly wakeAt: number | null;
  /** Takeovers since the run last made progress. */
  readonly recoveries: number;
  readonly stepsDone: number;
  readonly usage: Usage;
  /** Why it failed or waits for review, in one line. */
  readonly error: string | null;
  readonly updatedAt: number;
  readonly finishedAt: number | null;
  /** Position of the newest snapshot; 0 when there is none. */
  readonly snapshotSeq: number;
}

/** The right to advance a run. `until` is on the store's clock; 0 means free. */
export interface Claim {
  readonly epoch: number;
  readonly owner: string | null;
  readonly token: string | null;
  readonly until: number;
}

/** A run as the store keeps it. */
export interface RunRow extends RunIdentity, RunProjection {
  readonly claim: Claim;
  /** Position of the last event. */
  readonly seq: number;
  /** Hash of the last journal entry. */
  readonly head: string;
}

/** It can only be forked. */
export const terminal = (status: RunStatus): boolean => status === "completed" || status === "cancelled";

/** Nothing more happens by itself: it has ended for good, or failed and may be resumed. */
export const ended = (status: RunStatus): boolean => terminal(status) || status === "failed";
