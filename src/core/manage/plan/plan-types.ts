import type { ResumeOptions } from "../../control/control.ts";
import type { ContentItem, ContentVerdict } from "../../guards/content.ts";
import type { PolicyVerdict } from "../../guards/policy.ts";
import type { Foreseen } from "../../journal/ancestry.ts";
import type { StepType } from "../../journal/events.ts";
import type { Budget, Effect, RunStatus, WaitKind } from "../../types.ts";

/** The changes that a resume may bring along. */
export type PlanOptions = Pick<ResumeOptions, "set" | "inject" | "budget" | "retryFailed" | "now">;

/**
 * What a resume would do now. It contains everything that the resume would start or ask first; `view` tells what can't
 * be predicted after that. The policy and the content check are called for it, and again when the run continues.
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
  /** True when the workflow's code is known here. Without it, the plan only has what the journal says. */
  readonly code: boolean;
  /** The worker that holds the claim and may be active now: what seems in doubt here may then be in progress. */
  readonly worker: { readonly owner: string; readonly until: number } | null;
  /** Recorded work that isn't repeated, and its cost; including that of finished children. */
  readonly reuse: Reuse;
  /**
   * Steps that were begun and whose outcome is, or was, unknown, including those begun inside a step that is called again.
   */
  readonly inDoubt: readonly DoubtfulStep[];
  /**
   * What would be started first, and calls that would be replaced. The inside of a step isn't known before it is
   * called.
   */
  readonly runs: readonly NextStep[];
  /** The waits that the run would reach. */
  readonly waits: readonly NextWait[];
  /** How far the prediction reaches. */
  readonly view: View;
  /** How the code differs from the records. */
  readonly changed: Changed;
  /** The policy's current verdicts on the calls that would be made. */
  readonly policy: readonly { readonly step: string; readonly verdict: PolicyVerdict }[];
  /** The state of the approvals that those calls need. */
  readonly approvals: readonly Approval[];
  /** The content check's current verdicts on the values that the run would continue with. */
  readonly content: ContentReview;
  /** The rest of the budget; `null` when there is none. */
  readonly budget: Budget | null;
  /** The children in progress, each with its own plan. A paused one continues only when it is resumed itself. */
  readonly children: readonly ResumePlan[];
  /** Why it can't continue; `null` when nothing prevents it. */
  readonly blocked: string | null;
}

export interface Reuse {
  readonly steps: number;
  readonly ms: number;
  readonly tokens: number;
  /** `null` when no price is known. */
  readonly costUsd: number | null;
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
  /** Its code wasn't run, so whether it has a hook is unknown. */
  | "verify hook asked first, or a person"
  | "outcome already decided";

export interface NextStep {
  readonly step: string;
  readonly type: StepType;
  readonly effect: Effect;
  readonly attempt: number;
  /** The time at which a failed attempt is retried. */
  readonly at?: number;
  /** What happens first, or instead of the call: a person is asked, or in a fork a record replaces it. */
  readonly instead?: Foreseen;
}

export interface NextWait {
  readonly step: string;
  readonly for: WaitKind;
  readonly until?: number;
}

/**
 * How it ends. `completes`, `fails`, `is cancelled`: nothing happens that isn't listed here. `open`: what comes after
 * `after` depends on its outcome. `does not move`: something prevents it.
 */
export interface View {
  readonly end: "completes" | "fails" | "is cancelled" | "open" | "does not move";
  /** Steps of this plan whose consequences can't be predicted. */
  readonly after: readonly string[];
  /** Steps that the run itself has announced after them (`ctx.plan`). */
  readonly announced: readonly string[];
}

export interface Changed {
  readonly version: { readonly from: string; readonly to: string } | null;
  readonly schema: { readonly from: number; readonly to: number } | null;
  /** Recorded steps that the code doesn't ask for. */
  readonly notAsked: readonly string[];
  /** Steps that the code would start although it hasn't reached other recorded ones. */
  readonly new: readonly string[];
}

/**
 * `needed`: a person will be asked. `open`: a person is being asked. `void`: the answer no longer counts, because the
 * call, its arguments, the policy or the run has changed; a person is asked again. `given`, `refused`: the answer
 * counts.
 */
export interface Approval {
  readonly step: string;
  readonly gate: string;
  readonly state: "needed" | "open" | "void" | "given" | "refused";
}

export interface ContentReview {
  /** The number of examined values. */
  readonly checked: number;
  /** Values that the run wouldn't see as they are. */
  readonly held: readonly (Pick<ContentItem, "source" | "name"> & {
    readonly verdict: Exclude<ContentVerdict, "allow">;
  })[];
}
