import type { PolicyVerdict } from "../../guards/policy.ts";
import type { StepType } from "../../journal/events.ts";
import type { Budget, Effect, RunStatus, WaitKind } from "../../types.ts";
import type { Foreseen } from "../fork/effects.ts";

/**
 * What a resume would do now. Whatever it would start or ask first is here.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 *
 * export async function isHarmless(engine: Engine, runId: string): Promise<boolean> {
 *   const { runs, inDoubt } = await engine.plan(runId);
 *   return [...runs, ...inDoubt].every(({ effect }) => effect === "repeatable");
 * }
 * ```
 */
export interface ResumePlan {
  readonly runId: string;
  readonly status: RunStatus;
  /** Whether the workflow's code is known here. Without it, only what the journal says can be told. */
  readonly code: boolean;
  /** Recorded work that is not done again, and what it had cost. */
  readonly reuse: Reuse;
  /** Steps that were begun and whose outcome is, or was, not known; also such that were begun inside a step that is called again. */
  readonly inDoubt: readonly DoubtfulStep[];
  /** Steps that would be started first. What they contain is not known before they are called. */
  readonly runs: readonly NextStep[];
  /** What would be waited for. */
  readonly waits: readonly NextWait[];
  /** What the code does differently from what is recorded. */
  readonly changed: Changed;
  /** What the policy says now about the steps that would be called. */
  readonly policy: readonly { readonly step: string; readonly verdict: PolicyVerdict }[];
  /** What is left of the budget; `null` when there is none. */
  readonly budget: Budget | null;
  /** Why it cannot go on; `null` when nothing is in the way. */
  readonly blocked: string | null;
}

export interface Reuse {
  readonly steps: number;
  readonly ms: number;
  readonly tokens: number;
  readonly costUsd: number;
}

export interface DoubtfulStep {
  readonly step: string;
  readonly effect: Effect;
  readonly attempt: number;
  readonly treatment: Treatment;
}

export type Treatment =
  | "called again with the same key"
  | "called again"
  | "asked of a person"
  | "verify hook asked first"
  | "outcome already decided";

export interface NextStep {
  readonly step: string;
  readonly type: StepType;
  readonly effect: Effect;
  readonly attempt: number;
  /** A failed attempt is tried again at this time. */
  readonly at?: number;
  /** In a fork: what happens instead of the call. */
  readonly instead?: Foreseen;
}

export interface NextWait {
  readonly step: string;
  readonly for: WaitKind;
  readonly until?: number;
}

export interface Changed {
  readonly version: { readonly from: string; readonly to: string } | null;
  readonly schema: { readonly from: number; readonly to: number } | null;
  /** Recorded steps that the code does not ask for. */
  readonly notAsked: readonly string[];
  /** Steps that the code would start although others are recorded that it has not come to. */
  readonly new: readonly string[];
}
