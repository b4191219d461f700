import type { Workflow } from "../context.ts";
import type { EventDraft, UsageMeta } from "../journal/events.ts";
import type { ScopeNode, StepRecord } from "../journal/records.ts";
import type { RunState } from "../journal/state.ts";
import type { Values } from "../journal/values.ts";
import type { RunWriter } from "../journal/writer.ts";
import type { Ports } from "../ports.ts";
import type { CommitQueue } from "../store/commit.ts";
import type { Blob, Store, StoreIdentity } from "../store/contract.ts";
import type { StoreTime } from "../store/time.ts";
import type { Waiting } from "../types.ts";
import type { Incoming } from "./content.ts";
import type { RateGate } from "./rate-gate.ts";

/** The part of a running user call that guards see. */
export interface GuardedFrame {
  readonly outer: GuardedFrame | undefined;
  readonly usage: UsageMeta | undefined;
}

/** The place of a call. */
export interface GuardedPlace {
  readonly name: string;
  readonly key: string;
  readonly scope: {
    readonly prefix: string;
    readonly node: ScopeNode | undefined;
    readonly counts: ReadonlyMap<string, number>;
    readonly frame: GuardedFrame | undefined;
  };
}

/** The records that the code of a resumed run has asked for. */
export interface Asking {
  /** The run's position when it was taken up. */
  readonly since: number;
  /** The records that were asked for. */
  readonly met: WeakSet<object>;
  /** The keys of new steps that were asked for; the first hundred. */
  readonly fresh: string[];
  /** The counts of scopes whose code has asked for something new. */
  readonly ahead: WeakSet<object>;
}

/** The budget guard's notes about a run. */
export interface BudgetNotes {
  /** Iterations that have begun and not ended. */
  turnsUnderWay: number;
  /**
   * The outside events the run had seen when it was found to have no limit and none above it. Setting a limit above it
   * notifies it, so until then there is nothing to look up.
   */
  freeSince: number | undefined;
}

/** Passes a value to the content check. */
export interface ValueInspector {
  /** True for records of this process, which saw the value before it was written. */
  isOwn(record: Pick<StepRecord, "seq" | "data">): boolean;
  /** The value, or its marker; waits while it is held back. */
  inspect(incoming: Incoming): Promise<unknown>;
}

/** What a run is given of its engine, as far as guards need it. */
export interface GuardDeps {
  readonly store: Store;
  readonly identity: StoreIdentity;
  readonly queue: CommitQueue;
  readonly ports: Ports;
  readonly time: StoreTime;
  readonly values: Values;
  readonly policy: { readonly version: string } | undefined;
  /** The rate limits of the store, if it can keep any. */
  readonly rates: RateGate | undefined;
}

/** The guards' view of a running run, and what they may do to it. */
export interface GuardedRun {
  readonly runId: string;
  readonly workflow: Workflow;
  readonly state: RunState;
  /** True when this process didn't start the run. */
  readonly restored: boolean;
  readonly compensating: boolean;
  readonly intents: number;
  readonly writer: Pick<RunWriter, "row" | "unwritten" | "heard" | "whenIdle">;
  readonly deps: GuardDeps;
  /** Records that the code hasn't asked for. */
  readonly code: { missing(): readonly string[] } | undefined;
  /** Examines values that enter the run, if the engine has a content check. */
  readonly inspector: ValueInspector | undefined;
  readonly budgetNotes: BudgetNotes;
  asking: Asking | undefined;
  readonly rootScope: { readonly node: ScopeNode | undefined; readonly counts: ReadonlyMap<string, number> };
  readonly blamed: {
    of(error: unknown): readonly string[];
    put(error: unknown, steps: readonly string[]): void;
  };
  scope(): { readonly frame: GuardedFrame | undefined };
  enter(): Promise<void>;
  busy<T>(work: Promise<T>): Promise<T>;
  read<T>(get: () => T | Promise<T>): T | Promise<T>;
  wait(key: string, waiting: Waiting, frame: GuardedFrame | undefined): Promise<void>;
  wakeGuards(): void;
  record(event: EventDraft, blobs?: readonly Blob[], onDurable?: () => void): void;
  decideUncalled(
    intent: EventDraft,
    outcome: EventDraft,
    blobs: readonly Blob[],
    frame: GuardedFrame | undefined,
  ): Promise<void>;
}
