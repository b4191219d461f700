import type { GateAnswer } from "../context.ts";
import { gate } from "../run/waits.ts";
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
 * up by the intent of this attempt: another attempt, other arguments or a fork are asked about anew.
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

/** Step names that begin so are the engine's. */
const APPROVAL = "approve:";

/** Two signs, since `pay#2` is the second step of that name, not the second attempt. */
const approvalName = (name: string, attempt: number): string =>
  `${APPROVAL}${name}${attempt > 1 ? `##${attempt}` : ""}`;
