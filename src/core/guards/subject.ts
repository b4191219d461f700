import type { StepOptions } from "../context.ts";
import type { StepStarted } from "../journal/events.ts";
import { approvalName } from "../keys.ts";
import type { GuardedPlace, GuardedRun } from "./port.ts";

/** The digest of a call's declared arguments. */
export const argsDigest = <T>({ deps }: GuardedRun, { input }: StepOptions<T>): string | undefined =>
  input === undefined ? undefined : deps.values.digest(input);

/** The digest of a call's subject, if known: its arguments, or the item of its group. */
export function subjectDigest({ deps }: GuardedRun, options: Pick<StepOptions, "input">): string | undefined {
  const subject = options.input ?? itemOf(options);
  try {
    return subject === undefined ? undefined : deps.values.digest(subject);
  } catch (error) {
    // Not every item of a group can be stored, and a person can't agree to what can't be shown.
    if (options.input === undefined) return undefined;
    throw error;
  }
}

/** The item of a group's branch. */
export const itemOf = (options: object): unknown => ("item" in options ? options.item : undefined);

/**
 * True when an admitted call may still be made: its arguments, the policy and the answer it relies on are unchanged.
 * Checked with the append that writes the intent, so that nothing comes in between.
 */
export function stillAdmitted(
  execution: GuardedRun,
  { scope, name }: GuardedPlace,
  options: Pick<StepOptions, "input">,
  { policy, approved, attempt }: Pick<StepStarted, "policy" | "approved" | "attempt">,
): () => boolean {
  const before = subjectDigest(execution, options);
  return () => {
    if (subjectDigest(execution, options) !== before) return false;
    if (policy !== undefined && execution.deps.policy?.version !== policy) return false;
    if (approved === undefined) return true;
    const answer = execution.state.find(scope.prefix + approvalName(name, attempt));
    return answer?.status === "completed" && answer.seq === approved;
  };
}

/** True when the arguments are no longer those that a person has agreed to. */
export const hasChanged = <T>(
  execution: GuardedRun,
  options: StepOptions<T>,
  { args }: Pick<StepStarted, "args">,
): boolean => {
  const { deps, state } = execution;
  const isAsked = deps.policy !== undefined || state.facts.fork !== undefined;
  return isAsked && argsDigest(execution, options) !== args;
};
