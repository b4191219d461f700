import type { GateAnswer } from "../context.ts";
import { defined } from "../defined.ts";
import { fingerprint } from "../hash.ts";
import { changedAt, codeMark } from "../journal/answers.ts";
import { approvalName } from "../keys.ts";
import type { Admission } from "./guard.ts";
import type { GuardedRun } from "./port.ts";
import { itemOf, subjectDigest } from "./subject.ts";

export interface ApprovalRequest {
  /** What the person sees besides the step and its arguments: why it is asked, by which policy. */
  readonly about: Readonly<Record<string, unknown>>;
  readonly choices: readonly string[];
  readonly timeoutMs?: number | undefined;
  /** The choice that counts as given when the time is up. */
  readonly onTimeout?: string | undefined;
}

/**
 * Asks a person before one call. The answer is bound to the store, the run, the step, its effect, its exact arguments and `about`, and
 * it is used up by the intent of this attempt: another attempt, other arguments, another store or a fork are asked about anew. So is
 * one that was not used before its time was up.
 */
export function askApproval(
  { execution, place, options, intent, ask }: Admission,
  { about, choices, timeoutMs, onTimeout }: ApprovalRequest,
): Promise<GateAnswer> {
  const name = approvalName(place.name, intent.attempt);
  const { runId, deps } = execution;
  const store = fingerprint(deps.identity.incarnation);
  const show = {
    ...about,
    run: runId,
    store,
    step: place.key,
    effect: intent.effect,
    ...subject(execution, options),
  };
  return ask(
    { scope: place.scope, name, key: place.scope.prefix + name },
    {
      show,
      choices,
      text: true,
      ...defined({ timeoutMs }),
      ...(onTimeout === undefined ? {} : { onTimeout: { choice: onTimeout } }),
    },
  );
}

/**
 * What the call is about. Where that is not declared, the question says so, and the answer holds only as long as neither the run nor the
 * workflow's own code is changed.
 */
function subject(execution: GuardedRun, options: Admission["options"]): Readonly<Record<string, unknown>> {
  const { workflow, state } = execution;
  if (options.input !== undefined) return { input: options.input };
  const item = itemOf(options);
  if (item !== undefined && subjectDigest(execution, options) !== undefined) return { item };
  const branch = "branch" in options ? { branch: options.branch } : {};
  return { ...branch, undeclared: UNDECLARED, code: codeMark(workflow), changedAt: changedAt(state) };
}

const UNDECLARED =
  "This step does not declare its arguments (`input`): an approval covers whatever it does. Deny it unless you know the code.";

/** Where the journal stands with the question before this call: the same as long as nothing is said about it. */
export const approvalAt = ({ execution, place, intent }: Admission): number | undefined =>
  execution.state.find(place.scope.prefix + approvalName(place.name, intent.attempt))?.seq;
