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

/** A call of user code that is under way, as far as guards look at it. */
export interface GuardedFrame {
  readonly outer: GuardedFrame | undefined;
  readonly usage: UsageMeta | undefined;
}

/** Where a call is made. */
export interface GuardedPlace {
  readonly name: string;
  readonly key: string;
  readonly scope: {
    readonly prefix: string;
    readonly node: ScopeNode | undefined;
    readonly frame: GuardedFrame | undefined;
  };
}

/** What a run that was taken up again was asked for. */
export interface Asking {
  /** Where the run stood when it was taken up. */
  readonly since: number;
  /** What the journal held, and was asked for. */
  readonly met: WeakSet<object>;
}

/** What the budget's guard remembers of a run. */
export interface BudgetNotes {
  /** Iterations that have begun and not ended. */
  turnsUnderWay: number;
  /**
   * What the run had heard from outside when it was found to have no limit and to be below none. Whoever sets a limit above it tells it, so
   * until it hears something there is nothing to look up.
   */
  freeSince: number | undefined;
}

/** Asks the content check about a value. */
export interface ValueInspector {
  /** Recorded by this process, which has seen it before it was written. */
  isOwn(record: Pick<StepRecord, "seq" | "data">): boolean;
  /** The value, or its marker; waits while it is held back. */
  inspect(incoming: Incoming): Promise<unknown>;
}

/** What guards see of a run that is being advanced, and what they may do to it. */
export interface GuardedRun {
  readonly runId: string;
  readonly workflow: Workflow;
  readonly state: RunState;
  /** This process did not start the run. */
  readonly restored: boolean;
  readonly compensating: boolean;
  readonly intents: number;
  readonly writer: Pick<RunWriter, "row" | "unwritten" | "heard" | "whenIdle">;
  readonly deps: {
    readonly store: Store;
    readonly identity: StoreIdentity;
    readonly queue: CommitQueue;
    readonly ports: Ports;
    readonly time: StoreTime;
    readonly values: Values;
    readonly policy: { readonly version: string } | undefined;
  };
  /** What the journal holds and the code has not asked for. */
  readonly code: { missing(): readonly string[] } | undefined;
  /** Looks at values that come into the run, where the engine is given a content check. */
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
