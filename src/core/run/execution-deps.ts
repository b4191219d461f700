import type { AnswerSchemas } from "../answer-schemas.ts";
import type { Workflow } from "../context.ts";
import type { Guarded } from "../guards/all.ts";
import type { ContentCheck } from "../guards/content.ts";
import type { Guard } from "../guards/guard.ts";
import type { Policy } from "../guards/policy.ts";
import type { GuardDeps } from "../guards/port.ts";
import type { JournalEvent } from "../journal/events.ts";
import type { Facts } from "../journal/facts.ts";
import type { Observer } from "../journal/observer.ts";
import type { RunLogs } from "../journal/run-logs.ts";
import type { Encoded } from "../journal/values.ts";
import type { SaveEvery } from "../options.ts";
import type { PriceSource } from "../prices.ts";
import type { EffectPolicy, Parent, RunRow } from "../types.ts";
import type { Given } from "./given.ts";

/** The dependencies of an execution, shared by all runs of an engine. */
export interface ExecutionDeps extends GuardDeps {
  readonly settings: ExecutionSettings;
  /** Decides about calls, if there is one. */
  readonly policy: Policy | undefined;
  /** Examines values that enter a run, if there is one. */
  readonly contentCheck: ContentCheck | undefined;
  /** The workflows that this process has code for. */
  readonly workflows: ReadonlyMap<string, Workflow>;
  /** The schemas of open gates, for whoever answers them. */
  readonly answerSchemas: AnswerSchemas;
  /** Takes the lines of `ctx.log`; a run that is only foreseen writes none. */
  readonly logs?: RunLogs | undefined;
  /** What models cost, if the engine knows more than list prices. */
  readonly prices?: PriceSource | undefined;
  /** Watches calls, if anything does. */
  readonly observer?: Observer | undefined;
  /** The guards of a run's steps. */
  guards(run: Guarded): readonly Guard[];
  /** An execution's links to the engine around it. */
  readonly engine: EngineLinks;
}

export interface ExecutionSettings {
  readonly claimMs: number;
  /** A wait that ends within this time is kept in memory; a longer one releases the run. */
  readonly holdMs: number;
  /** How long nothing must happen before a waiting run is released. */
  readonly quietMs: number;
  /** The time limit assumed for steps without one, when judging whether a lost worker may still be acting. */
  readonly assumedStepMs: number;
  /** How often loops save their state by default. */
  readonly every: SaveEvery;
  /** When checkpoints are marked automatically. */
  readonly triggers: TriggerSettings;
}

/** The child that a fork is about to start. */
export interface ChildRequest {
  readonly id: string;
  readonly workflow: Workflow;
  readonly input: unknown;
  readonly parent: Parent;
  readonly given: Given;
  /** The fork's own facts. */
  readonly facts: Pick<Facts, "fork" | "childForks" | "hops">;
}

/** When checkpoints are marked automatically; `null`: never. */
export interface TriggerSettings {
  readonly confidence: number | null;
  readonly memoryPressure: number | null;
  readonly errors: boolean;
  readonly phases: boolean;
  readonly agents: boolean;
  readonly evaluations: boolean;
}

/** One of the attempts at a step. */
export interface Attempt {
  readonly step: string;
  readonly attempt: number;
}

export interface EngineLinks {
  durable(row: RunRow, events: readonly JournalEvent[]): void;
  startChild(
    workflow: Workflow,
    runId: string,
    input: unknown,
    parent: { runId: string; step: string },
    given: Given,
  ): Promise<RunRow>;
  /**
   * In a fork: makes the child a fork too, if the source had one at its place; else returns the policy under which the
   * child begins by itself. Throws HF-1023 when the values of the source's child are gone.
   */
  forkChild(request: ChildRequest): Promise<EffectPolicy | undefined>;
  /** Resumes a failed child, once for each attempt at the step that it is. */
  resumeChild(runId: string, attempt: Attempt): Promise<void>;
  /** Reports a child's outcome to its parent. */
  notifyParent(child: RunRow): Promise<void>;
  /**
   * Cancels the unfinished runs that the run started, with undo. Returns what runs below it did and can no longer undo.
   */
  cancelChildren(runId: string): Promise<readonly string[]>;
  /** Keeps the result of a call whose worker lost the run. */
  evidence(runId: string, first: string, attempt: number, data: Pick<Encoded, "data" | "blobs">): void;
}
