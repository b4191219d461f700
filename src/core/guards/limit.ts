import { HoldfastError } from "../errors.ts";
import { about } from "../journal/wait-reason.ts";
import { type LimitOption, type LimitUse, limitUses } from "../rate-limit.ts";
import type { Admission, Guard } from "./guard.ts";
import type { GuardedRun } from "./port.ts";
import type { Grant, RateGate } from "./rate-gate.ts";

/** Holds a call back until the limits that its step names have room for it. */
export const limitGuard = (gate: RateGate): Guard => ({
  admit: (admission: Admission) => {
    const uses = limitUses(admission.options.limit);
    return uses.length === 0 ? undefined : untilGranted(gate, admission, uses).then(() => undefined);
  },
});

async function untilGranted(
  gate: RateGate,
  { execution, grants, place }: Admission,
  uses: readonly LimitUse[],
): Promise<void> {
  const { key, scope } = place;
  const since = execution.deps.time.now();
  const wait = (name: string, until: number) => {
    const reason = about(new HoldfastError("HF-5122", { step: key, name }));
    return execution.wait(key, { kind: "limit", step: key, since, until, ...reason }, scope.frame);
  };
  for (const use of uses) {
    const who = `${execution.runId} ${key}`;
    for (;;) {
      const answer = await execution.busy(gate.take(use, who));
      if (typeof answer !== "number") {
        grants.push(answer);
        break;
      }
      await wait(use.name, answer);
    }
  }
  // While it waited for one limit, another one may have forgotten it.
  for (let late = grants.findIndex(isLate); late >= 0; late = grants.findIndex(isLate)) {
    const until = await execution.busy((grants[late] as Grant).renew());
    if (until !== null) await wait(uses[late]?.name ?? "", until);
  }
}

/**
 * Waits until a call may begin, right before it does: by now its grants may be too old. Its intent is written, so it
 * doesn't leave this process meanwhile.
 */
export async function untilTimely(execution: GuardedRun, grants: readonly Grant[]): Promise<void> {
  const { time, ports } = execution.deps;
  for (let late = grants.find(isLate); late; late = grants.find(isLate)) {
    const until = await execution.busy(late.renew());
    if (until === null) continue;
    const ms = Math.max(1, until - time.now());
    await execution.busy(new Promise<void>((resolve) => ports.clock.setTimer(resolve, ms)));
  }
}

const isLate = (grant: Grant): boolean => !grant.isTimely();

/** A receiver that asks to wait holds its limits back for all runs. */
export async function holdLimits(
  execution: GuardedRun,
  option: LimitOption | undefined,
  ms: number | undefined,
): Promise<void> {
  const { rates } = execution.deps;
  if (!rates || option === undefined || ms === undefined || ms <= 0) return;
  await execution.busy(Promise.all(limitUses(option).map(({ name }) => rates.heldBack(name, ms))));
}
