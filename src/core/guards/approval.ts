import type { GateAnswer } from "../context.ts";
import { defined } from "../defined.ts";
import { fingerprint } from "../hash.ts";
import { changedAt, codeMark } from "../journal/answers.ts";
import { approvalName } from "../keys.ts";
import type { Admission } from "./guard.ts";
import type { GuardedRun } from "./port.ts";
import { itemOf, subjectDigest } from "./subject.ts";

export interface ApprovalRequest {
  /** Shown to the person besides the step and its arguments: the reason and the policy. */
  readonly about: Readonly<Record<string, unknown>>;
  readonly choices: readonly string[];
  readonly timeoutMs?: number | undefined;
  readonly fourEyes?: boolean | undefined;
  /** The choice to assume when the time is up. */
  readonly onTimeout?: string | undefined;
}

/**
 * Asks a person before one call. The answer is bound to the store, the run, the step, its effect, its exact arguments
 * and `about`, and the intent of this attempt consumes it: another attempt, other arguments, another store or a fork
 * ask again. So does an answer that wasn't used in time.
 */
export function askApproval(
  { execution, place, options, intent, ask }: Admission,
  { about, choices, timeoutMs, fourEyes, onTimeout }: ApprovalRequest,
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
      ...defined({ timeoutMs, fourEyes }),
      ...(onTimeout === undefined ? {} : { onTimeout: { choice: onTimeout } }),
    },
  );
}

/**
 * Describes the call. If its arguments aren't declared, the question says so, and the answer is valid only as long as
 * neither the run nor the workflow's code changes.
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

/** The journal position of the question before this call: unchanged until something is said about it. */
export const approvalAt = ({ execution, place, intent }: Admission): number | undefined =>
  execution.state.find(place.scope.prefix + approvalName(place.name, intent.attempt))?.seq;
