import type { Context, StepCall, StepOptions } from "../../core/context.ts";
import type { PhaseCheckpointRow } from "../../core/records.ts";
import type { Agent, AgentReport, Results } from "../agent.ts";

/** What an agent says when it changes: a status alone, or what it knows about itself. */
export type AgentChange =
  | string
  | (AgentReport & {
      readonly status?: string;
      /** Anything that it needs to go on. */
      readonly state?: unknown;
    });

/** A choice to record. */
export interface PhaseDecision {
  readonly description: string;
  /** Default: the orchestrator. */
  readonly agent?: string;
  readonly type?: string;
  readonly rationale?: string;
  readonly confidence?: number;
  readonly alternatives?: readonly string[];
}

/** Why a checkpoint is made by hand. */
export type ManualTrigger = "phase_start" | "user_requested" | "debug_breakpoint" | "before_risky_operation";

/** A phase as its orchestrator sees it. */
export interface PhaseContext<I = unknown> {
  readonly name: string;
  /** 1 for the first phase. */
  readonly phase: number;
  /** How often the evaluator has sent the phase back. */
  readonly iteration: number;
  readonly input: I;
  /** The results of earlier phases: by phase, by specialist, by subtask. */
  readonly outputs: PhaseOutputs;
  /** What the evaluator said about the last iteration. */
  readonly feedback: string | null;
  readonly ctx: Context;
  /** A step of the orchestrator. */
  step<T>(name: string, work: (call: StepCall) => T | Promise<T>, options?: StepOptions<T>): Promise<T>;
  /** Saves a checkpoint of the phase. Returns its id, a UUID. */
  createCheckpoint(checkpoint?: { readonly phase?: number; readonly type?: ManualTrigger }): Promise<string>;
  updateAgentState(agent: string, state: AgentChange): void;
  recordDecision(decision: PhaseDecision): void;
  /** The newest checkpoint of this run, or `undefined`. */
  loadLatest(): PhaseCheckpointRow | undefined;
}

/** Results by phase, by specialist, by subtask. */
export type PhaseOutputs = Readonly<Record<string, Readonly<Record<string, Results>>>>;

/** Plans a phase. Its code runs again after a crash: put work into `phase.step`. */
export interface Orchestrator<I = unknown> {
  readonly name: string;
  /** What it returns is the `plan` that the specialists get. */
  run?(phase: PhaseContext<I>): unknown;
}

/** What the subtasks of a specialist get as `input`. */
export interface SpecialistInput<I = unknown> {
  readonly input: I;
  readonly plan: unknown;
  readonly outputs: PhaseOutputs;
  readonly iteration: number;
  readonly feedback: string | null;
}

/** What an evaluator sees of the specialists' work. */
export interface EvaluationCall<I = unknown> extends StepCall {
  readonly input: I;
  readonly plan: unknown;
  /** By specialist, by subtask. */
  readonly results: Readonly<Record<string, Results>>;
  readonly iteration: number;
  /** Earlier evaluations of this phase. */
  readonly history: readonly Evaluation[];
}

/** The score of a criterion, and what is wrong. */
export interface Score {
  /** From 0 to 1. */
  readonly score: number;
  readonly issues?: readonly string[];
}

/** One aspect that an evaluator scores. Each is a step, so a partial evaluation is never lost. */
export interface Criterion<I = unknown> {
  readonly name: string;
  /** Default 1. */
  readonly weight?: number;
  score(call: EvaluationCall<I>): Score | number | Promise<Score | number>;
}

/** Judges the results of a phase. */
export interface Evaluator<I = unknown> {
  readonly name: string;
  readonly criteria: readonly Criterion<I>[];
  /** The score at which the phase is done. Default 0: one evaluation, whatever it says. */
  readonly passScore?: number;
  /** Default 3. */
  readonly maxIterations?: number;
  /** Writes the feedback for the next iteration. Default: the issues. */
  feedback?(
    call: EvaluationCall<I> & { readonly evaluation: Omit<Evaluation, "feedback"> },
  ): string | Promise<string>;
}

/** The outcome of one iteration of a phase. */
export interface Evaluation {
  readonly iteration: number;
  /** The weighted mean of the scores. */
  readonly score: number;
  readonly scores: Readonly<Record<string, number>>;
  readonly issues: readonly string[];
  readonly feedback: string | null;
  readonly passed: boolean;
}

/** What may be done about low confidence. */
export type LowConfidenceChoice =
  | "spawn_additional_specialist"
  | "request_human_review"
  | "proceed_with_low_confidence";

/** What a team does when a specialist isn't confident enough. */
export interface LowConfidence {
  readonly agent: string;
  readonly confidence: number;
  readonly threshold: number;
  readonly blockers: readonly string[];
  readonly phase: string;
}

/** One phase of a team: an orchestrator, specialists and an evaluator. */
export interface Phase<I = unknown> {
  readonly name: string;
  readonly orchestrator?: Orchestrator<I>;
  readonly specialists: readonly Agent<SpecialistInput<I>>[];
  readonly evaluator?: Evaluator<I>;
  /** How many specialists work at the same time. Default: all. */
  readonly concurrency?: number;
  /** The specialist to add when confidence is low. */
  additional?(low: LowConfidence): Agent<SpecialistInput<I>>;
  /** Default: add a specialist if the phase has one to add, else go on. */
  readonly onLowConfidence?:
    | LowConfidenceChoice
    | ((low: LowConfidence) => LowConfidenceChoice | Promise<LowConfidenceChoice>);
}
