import { checkMethod, checkNumber, checkText } from "../check-options.ts";
import { type Clock, systemClock } from "../clock.ts";
import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import type { EventDraft } from "../journal/events.ts";
import { about } from "../journal/wait-reason.ts";
import type { Effect } from "../types.ts";
import { approvalAt, askApproval } from "./approval.ts";
import { waitedForBudget } from "./budget.ts";
import type { Admission, Admitted, Guard } from "./guard.ts";
import { HOOK_MS, inTime, LATE } from "./in-time.ts";
import { itemOf, subjectDigest } from "./subject.ts";

/** A policy's question: a call that is about to be made. */
export interface PolicyRequest {
  readonly runId: string;
  readonly workflow: string;
  readonly version: string;
  readonly step: string;
  readonly effect: Effect;
  readonly attempt: number;
  /** The arguments that the step declares (`input`), or the item of its group, and their digest. */
  readonly input: unknown;
  readonly args: string | undefined;
  /** True when this process didn't start the run. */
  readonly restored: boolean;
}

/** What a policy decides about a call: allow it, deny it, or ask a person. */
export type PolicyVerdict =
  | "allow"
  | { readonly deny: string }
  /**
   * A person must agree. The answer is bound to these exact arguments and consumed by this attempt. `fourEyes`: it must
   * differ from whoever started the run.
   */
  | { readonly ask: string; readonly timeoutMs?: number; readonly fourEyes?: boolean };

/**
 * Decides about calls. Called again before every one of them; a policy that throws, or is too slow, denies the call.
 */
export interface Policy {
  /** Recorded with every intent; a new version voids unused approvals. */
  readonly version: string;
  /** How long it may take for one call. Default: five minutes. */
  readonly timeoutMs?: number;
  decide(request: PolicyRequest): PolicyVerdict | Promise<PolicyVerdict>;
}

/** Refuses a value that isn't a policy (HF-1003). */
export function checkPolicy(policy: Policy | undefined): Policy | undefined {
  if (policy === undefined) return undefined;
  checkText("policy.version", policy?.version, 1);
  checkMethod("policy", policy, "decide");
  if (policy.timeoutMs !== undefined) checkNumber("policy.timeoutMs", policy.timeoutMs);
  return policy;
}

/** After any wait everything is asked again: an earlier verdict may no longer be valid. */
export const policyGuard = (policy: Policy): Guard => ({
  async admit(admission): Promise<Admitted> {
    const { execution, place } = admission;
    for (;;) {
      const { version } = policy;
      // The hook may be slow, so the run isn't released in the meantime.
      const asked = askPolicy(policy, requestOf(admission), execution.deps.ports.clock);
      const verdict = await execution.busy(asked);
      if (verdict !== "allow" && "deny" in verdict) {
        const problem = denied(admission, version, verdict.deny);
        const wait = { kind: "policy", step: place.key, ...about(problem) } as const;
        await execution.wait(place.key, { ...wait, since: execution.deps.time.now() }, place.scope.frame);
        continue;
      }
      const isAsked = verdict !== "allow";
      if (isAsked && !(await isApproved(admission, version, verdict))) continue;
      if (policy.version !== version || (await waitedForBudget(execution, place))) continue;
      const approved = isAsked ? approvalAt(admission) : undefined;
      return { note: { policy: version, ...defined({ approved }) } };
    }
  },
});

/** True when it was already approved. If a person had to be waited for, they saw it as it was then. */
async function isApproved(
  admission: Admission,
  version: string,
  { ask, timeoutMs, fourEyes }: Extract<PolicyVerdict, { ask: string }>,
): Promise<boolean> {
  const before = approvalAt(admission);
  const about = { policy: version, reason: ask };
  const choices = subjectDigest(admission.execution, admission.options) === undefined ? DENIES : CHOICES;
  const answer = await askApproval(admission, { about, choices, timeoutMs, fourEyes, onTimeout: DENY });
  if (answer.choice === APPROVE) return approvalAt(admission) === before;
  const by = answer.timedOut ? "Nobody answered in time." : `${answer.actor} said no.`;
  const reason = [by, answer.text ?? ""].join(" ").trim();
  throw await failDenied(admission, version, denied(admission, version, reason));
}

const APPROVE = "approve";
const DENY = "deny";
const CHOICES: readonly string[] = [APPROVE, DENY];
/** For a call with undeclared arguments: denying is the first choice, for a person who doesn't look. */
const DENIES: readonly string[] = [DENY, APPROVE];

function requestOf({ execution, place, options, intent }: Admission): PolicyRequest {
  const { id, workflow, version } = execution.writer.row;
  const { effect, attempt } = intent;
  const { restored } = execution;
  const input = options.input ?? itemOf(options);
  const args = subjectDigest(execution, options);
  return { runId: id, workflow, version, step: place.key, effect, attempt, input, args, restored };
}

/** The policy's verdict. A missing or invalid one denies the call. */
export async function askPolicy(
  policy: Policy,
  request: PolicyRequest,
  clock: Clock = systemClock,
): Promise<PolicyVerdict> {
  const { timeoutMs = HOOK_MS } = policy;
  try {
    const verdict = await inTime(clock, timeoutMs, () => policy.decide(request));
    if (verdict === LATE) return { deny: `The policy did not answer within ${timeoutMs} ms.` };
    return isVerdict(verdict) ? verdict : { deny: "The policy's answer is not a verdict." };
  } catch (error) {
    return { deny: `The policy threw: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function isVerdict(verdict: unknown): verdict is PolicyVerdict {
  if (verdict === "allow") return true;
  if (typeof verdict !== "object" || verdict === null) return false;
  const { deny, ask, timeoutMs, fourEyes = false } = verdict as Record<string, unknown>;
  if (deny !== undefined) return typeof deny === "string" && ask === undefined;
  const isTime = timeoutMs === undefined || (Number.isFinite(timeoutMs) && (timeoutMs as number) > 0);
  return typeof ask === "string" && isTime && typeof fourEyes === "boolean";
}

const denied = ({ place }: Admission, policy: string, reason: string): HoldfastError =>
  new HoldfastError("HF-2116", { step: place.key, policy, reason: reason.slice(0, MOST_REASON) });

const MOST_REASON = 500;

/**
 * Fails the step without a call, permanently. Intent and outcome are one write, so that no reader can mistake the
 * intent for a call. Both are held back while the run is told to stop.
 */
async function failDenied(
  { execution, place, intent }: Admission,
  policy: string,
  error: HoldfastError,
): Promise<unknown> {
  const { key: step, scope } = place;
  const { values } = execution.deps;
  const encoded = values.encodeError(step, error);
  const { data, blobs } = encoded;
  const started: EventDraft = { kind: "step_started", step, meta: { ...intent, policy } };
  const failed: EventDraft = { kind: "step_failed", step, meta: { attempt: intent.attempt }, data };
  await execution.decideUncalled(started, failed, blobs, scope.frame);
  const seen = values.echo(encoded);
  execution.blamed.put(seen, [step]);
  return seen;
}
