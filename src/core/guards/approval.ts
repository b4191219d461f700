import type { GateAnswer } from "../context.ts";
import { gate } from "../run/waits.ts";
import { approvalName } from "./approval-name.ts";
import type { Admission } from "./guard.ts";

export interface ApprovalRequest {
  /** What the person sees besides the step and its arguments: why it is asked, by which policy. */
  readonly about: Readonly<Record<string, unknown>>;
  readonly choices: readonly string[];
  readonly timeoutMs?: number | undefined;
  /** The choice that counts as given when the time is up. */
  readonly onTimeout?: string | undefined;
}

/**
 * Asks a person before one call. The answer is bound to the run, the step, its effect, its exact arguments and `about`, and it is used
 * up by the intent of this attempt: another attempt, other arguments or a fork are asked about anew. So is one that was not used before
 * its time was up.
 */
export function askApproval(
  { execution, place, options, intent }: Admission,
  { about, choices, timeoutMs, onTimeout }: ApprovalRequest,
): Promise<GateAnswer> {
  const name = approvalName(place.name, intent.attempt);
  const show = {
    ...about,
    run: execution.runId,
    step: place.key,
    effect: intent.effect,
    input: options.input,
  };
  return gate(
    execution,
    { scope: place.scope, name, key: place.scope.prefix + name },
    {
      show,
      choices,
      text: true,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(onTimeout === undefined ? {} : { onTimeout: { choice: onTimeout } }),
    },
    true,
  );
}

/** Where the journal stands with the question before this call: the same as long as nothing is said about it. */
export const approvalAt = ({ execution, place, intent }: Admission): number | undefined =>
  execution.state.find(place.scope.prefix + approvalName(place.name, intent.attempt))?.seq;
