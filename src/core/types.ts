import type { ErrorCode } from "./errors.ts";

/** The vocabulary of Holdfast as types. Nothing here has behaviour. */

/** A type under construction. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What may happen to a step whose outcome is unknown after a crash. */
export type Effect = "repeatable" | "keyed" | "once";

export const RUN_STATUSES = [
  "queued",
  "running",
  "waiting",
  "paused",
  "completed",
  "failed",
  "cancelled",
] as const;

/** The status of a run. `failed` and `paused` can be resumed; `completed` and `cancelled` can't. */
export type RunStatus = (typeof RUN_STATUSES)[number];

/**
 * How a fork handles `keyed` and `once` steps that its source has done, or may have done. `reuse`: takes over the
 * source's record. `block`: waits for a person. `simulate`: calls nothing. `allow`: calls again, with its own key.
 */
export type EffectPolicy = "reuse" | "block" | "simulate" | "allow";

/** The most pressing first. */
export const WAIT_KINDS = [
  "review",
  "decision",
  "gate",
  "budget",
  "content",
  "policy",
  "migration",
  "key",
  "signal",
  "child",
  "retry",
  "limit",
  "timer",
  "start",
] as const;

/** The named things a run can wait for. */
export type WaitKind = (typeof WAIT_KINDS)[number];

/** One thing that a run waits for: what, since when, until when. */
export interface Waiting {
  readonly kind: WaitKind;
  readonly step: string;
  readonly since: number;
  readonly until?: number;
  /** The names of the signals it waits for. */
  readonly names?: readonly string[];
  /** What a person needs to see. Programs go by the fields below, which runs stored by earlier versions lack. */
  readonly detail?: string;
  /** The error that the detail is about. */
  readonly code?: ErrorCode;
  /** The limits of a budget that are reached. */
  readonly limits?: readonly Limit[];
  /** The run that it waits for. */
  readonly child?: string;
}

export const CONTROLS = ["none", "pausing", "compensating"] as const;

/** A request that the owner of a run still has to obey. */
export type Control = (typeof CONTROLS)[number];

/** The parent of a child run. */
export interface Parent {
  readonly runId: string;
  readonly step: string;
}

/** The origin of a fork: a checkpoint of another run. */
export interface Origin {
  readonly runId: string;
  readonly seq: number;
}

/**
 * The limits of a run and all runs below it together. Reaching a limit is a wait with that name, never a failure.
 * `turns` counts loop iterations; `wallMs` counts only time in which a worker had a run, added up over the runs.
 */
export interface Budget {
  readonly turns?: number;
  readonly tokens?: number;
  readonly costUsd?: number;
  readonly wallMs?: number;
}

export type Limit = keyof Budget;

export const ALL_LIMITS: readonly Limit[] = ["turns", "tokens", "costUsd", "wallMs"];

/** Tokens and money, summed over a run and the runs it started. Cost is in US dollars. */
export interface Usage {
  readonly tokens: number;
  readonly costUsd: number;
}

/** A usage that may say how many of its tokens have no known price. */
type PartlyPriced = Usage & { readonly unpriced?: number };

/** The tokens whose price isn't known. They aren't free. */
export const unpricedOf = ({ tokens, costUsd, unpriced }: PartlyPriced): number =>
  unpriced ?? (costUsd === 0 ? tokens : 0);

/** The same usage for people and programs: a cost that isn't known is `null`, never 0. */
export const shownUsage = <T extends PartlyPriced>(
  usage: T,
): Omit<T, "costUsd"> & { readonly costUsd: number | null } => ({
  ...usage,
  costUsd: usage.costUsd === 0 && unpricedOf(usage) > 0 ? null : usage.costUsd,
});

export const NO_USAGE: Usage = { tokens: 0, costUsd: 0 };

export const addUsage = (total: Usage, more: Usage): Usage => ({
  tokens: total.tokens + more.tokens,
  costUsd: total.costUsd + more.costUsd,
});

/** How a run is named, found and queued; see `StartOptions`. */
export interface RunTags {
  /** A name for people; several runs may have the same. */
  readonly name: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** The queue whose limits apply to it. */
  readonly queue: string | null;
  /** What it is about, such as a customer: limits and singletons go by it. */
  readonly key: string | null;
  /** 0 is normal; higher ones are taken first. */
  readonly priority: number;
}

/** A run's identity: written once, when it is created. */
export interface RunIdentity extends RunTags {
  readonly id: string;
  readonly workflow: string;
  /** Part of every idempotency key: equal to the id, and new for a fork. */
  readonly lineage: string;
  readonly parent: Parent | null;
  readonly origin: Origin | null;
  readonly createdAt: number;
}

/** The part of a row that changes with every append: a projection of the journal, so that lists need not read it. */
export interface RunProjection {
  /** The version of the workflow and of its state's shape, as of the last migration. */
  readonly version: string;
  readonly schema: number;
  readonly status: RunStatus;
  readonly control: Control;
  readonly waiting: readonly Waiting[];
  /** When a worker may next claim the run; `null` while only an outside act can move it. */
  readonly wakeAt: number | null;
  /** Takeovers since the run last made progress. */
  readonly recoveries: number;
  readonly stepsDone: number;
  readonly usage: Usage;
  /** Finished loop iterations, and milliseconds in which a worker had the run; including those of ended children. */
  readonly turns: number;
  readonly activeMs: number;
  /** The time up to which that is counted, while a worker has the run. */
  readonly activeAt: number | null;
  readonly budget: Budget | null;
  /** Children that were started and haven't reported back. */
  readonly openChildren: number;
  /** True when the run, or a checkpoint of it, is pinned: it isn't dropped because of its age. */
  readonly pinned: boolean;
  /** When retention dropped its values; only the record of what happened is left. */
  readonly prunedAt: number | null;
  /** Why it failed, was paused or waits for review, in one line. */
  readonly error: string | null;
  readonly updatedAt: number;
  readonly finishedAt: number | null;
  /** Position of the newest snapshot; 0 when there is none. */
  readonly snapshotSeq: number;
}

/** The fields that nearly every append changes. */
export const COUNTED = [
  "stepsDone",
  "turns",
  "usage",
  "activeMs",
  "activeAt",
  "updatedAt",
] as const satisfies readonly (keyof RunProjection)[];

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
  /** The position of the last event. */
  readonly seq: number;
  /** The hash of the last journal entry. */
  readonly head: string;
  /** The problem with its stored data. Such a run waits for review, and nothing is written to it. */
  readonly damage?: string;
}

/** True when it can only be forked. */
export const terminal = (status: RunStatus): boolean => status === "completed" || status === "cancelled";

/** True when nothing more happens on its own: it has ended for good, or failed and may be resumed. */
export const ended = (status: RunStatus): boolean => terminal(status) || status === "failed";

/** A run as seen from outside. */
export type Run = Omit<RunRow, "head">;

/** A run's state at some position, as plain data: for people to view, compare, edit and migrate. */
export interface StateView {
  readonly input: unknown;
  readonly config: Readonly<Record<string, unknown>>;
  readonly memory: Readonly<Record<string, unknown>>;
  /** By key; only loops that have begun. */
  readonly loops: Readonly<Record<string, unknown>>;
  /** Results of completed steps by key. Steps inside finished iterations aren't needed any more and aren't included. */
  readonly steps: Readonly<Record<string, unknown>>;
}

/**
 * New values that replace recorded ones. The old ones stay in the journal. A replay returns a step's edited value;
 * steps that have used the old one aren't run again.
 */
export interface Edits {
  /** By key; `undefined` deletes. */
  readonly memory?: Readonly<Record<string, unknown>>;
  /** Results of finished steps, by key. */
  readonly steps?: Readonly<Record<string, unknown>>;
  /** States of loops, by key. */
  readonly loops?: Readonly<Record<string, object>>;
  readonly input?: unknown;
  /** Merged into the run's config, one level deep. */
  readonly config?: Readonly<Record<string, unknown>>;
}
