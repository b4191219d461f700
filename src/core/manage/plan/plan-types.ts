import type { ResumeOptions } from "../../control/control.ts";
import type { ContentItem, ContentVerdict } from "../../guards/content.ts";
import type { PolicyVerdict } from "../../guards/policy.ts";
import type { Foreseen } from "../../journal/ancestry.ts";
import type { StepType } from "../../journal/events.ts";
import type { Budget, Effect, RunStatus, WaitKind } from "../../types.ts";

/** What a resume may bring along. */
export type PlanOptions = Pick<ResumeOptions, "set" | "inject" | "budget" | "retryFailed" | "now">;

/**
 * What a resume would do now. Whatever it would start or ask first is here, and `view` says what comes after that which cannot be seen
 * beforehand. The policy and the content check are asked for it, as they are asked anew when the run goes on.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 *
 * export async function isHarmless(engine: Engine, runId: string): Promise<boolean> {
 *   const { runs, inDoubt, children, view } = await engine.plan(runId);
 *   const steps = [...runs, ...inDoubt];
 *   return view.end !== "open" && children.length === 0 && steps.every(({ effect }) => effect === "repeatable");
 * }
 * ```
 */
export interface ResumePlan {
  readonly runId: string;
  readonly status: RunStatus;
  /** Whether the workflow's code is known here. Without it, only what the journal says can be told. */
  readonly code: boolean;
  /** Who has claimed the run and may be at it now: what is in doubt here may then just be under way. */
  readonly worker: { readonly owner: string; readonly until: number } | null;
  /** Recorded work that is not done again, and what it had cost; that of finished children included. */
  readonly reuse: Reuse;
  /** Steps that were begun and whose outcome is, or was, not known; also such that were begun inside a step that is called again. */
  readonly inDoubt: readonly DoubtfulStep[];
  /** What would be started first, and calls that something else would stand in for. What a step contains is not known before it is called. */
  readonly runs: readonly NextStep[];
  /** What would be waited for. */
  readonly waits: readonly NextWait[];
  /** How far this can be seen. */
  readonly view: View;
  /** What the code does differently from what is recorded. */
  readonly changed: Changed;
  /** What the policy says now about the calls that would be made. */
  readonly policy: readonly { readonly step: string; readonly verdict: PolicyVerdict }[];
  /** How it stands with the approvals those calls need. */
  readonly approvals: readonly Approval[];
  /** What the content check says now about the values that the run would go on with. */
  readonly content: ContentReview;
  /** What is left of the budget; `null` when there is none. */
  readonly budget: Budget | null;
  /** The children under way, each with a plan of its own. One that is paused goes on only when it is resumed itself. */
  readonly children: readonly ResumePlan[];
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
  /** Its code was not gone through, so that it is not known whether it has one. */
  | "verify hook asked first, or a person"
  | "outcome already decided";

export interface NextStep {
  readonly step: string;
  readonly type: StepType;
  readonly effect: Effect;
  readonly attempt: number;
  /** A failed attempt is tried again at this time. */
  readonly at?: number;
  /** What happens first, or instead of the call: a person is asked, or in a fork something recorded stands in for it. */
  readonly instead?: Foreseen;
}

export interface NextWait {
  readonly step: string;
  readonly for: WaitKind;
  readonly until?: number;
}

/**
 * How it ends. `completes`, `fails`, `is cancelled`: nothing happens that is not here. `open`: what comes after `after` depends on what
 * becomes of it. `does not move`: something is in the way.
 */
export interface View {
  readonly end: "completes" | "fails" | "is cancelled" | "open" | "does not move";
  /** Steps of this plan behind which nothing can be seen. */
  readonly after: readonly string[];
  /** Steps that the run itself has said are to come behind them (`ctx.plan`). */
  readonly announced: readonly string[];
}

export interface Changed {
  readonly version: { readonly from: string; readonly to: string } | null;
  readonly schema: { readonly from: number; readonly to: number } | null;
  /** Recorded steps that the code does not ask for. */
  readonly notAsked: readonly string[];
  /** Steps that the code would start although others are recorded that it has not come to. */
  readonly new: readonly string[];
}

/**
 * `needed`: somebody will be asked. `open`: somebody is being asked. `void`: what was answered does not count any more, since the call,
 * its arguments, the policy or the run are others; somebody is asked anew. `given`, `refused`: the answer counts.
 */
export interface Approval {
  readonly step: string;
  readonly gate: string;
  readonly state: "needed" | "open" | "void" | "given" | "refused";
}

export interface ContentReview {
  /** Values that were looked at. */
  readonly checked: number;
  /** Those that the run would not see as they are. */
  readonly held: readonly (Pick<ContentItem, "source" | "name"> & {
    readonly verdict: Exclude<ContentVerdict, "allow">;
  })[];
}
