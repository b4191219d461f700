import { HoldfastError } from "../errors.ts";
import { about } from "../journal/wait-reason.ts";
import { type LimitOption, type LimitUse, limitUses } from "../rate-limit.ts";
import type { Admission, Guard } from "./guard.ts";
import type { GuardedRun } from "./port.ts";
import type { RateGate } from "./rate-gate.ts";

/** Holds a call back until the limits that its step names have room for it. */
export const limitGuard = (gate: RateGate): Guard => ({
  admit: ({ execution, place, options }: Admission) => {
    const uses = limitUses(options.limit);
    return uses.length === 0 ? undefined : untilGranted(gate, execution, place, uses).then(() => undefined);
  },
});

async function untilGranted(
  gate: RateGate,
  execution: GuardedRun,
  { key, scope: { frame } }: Admission["place"],
  uses: readonly LimitUse[],
): Promise<void> {
  const since = execution.deps.time.now();
  for (const use of uses) {
    const who = `${execution.runId} ${key}`;
    for (;;) {
      const until = await execution.busy(gate.take(use, who));
      if (until === null) break;
      const reason = about(new HoldfastError("HF-5122", { step: key, name: use.name }));
      await execution.wait(key, { kind: "limit", step: key, since, until, ...reason }, frame);
    }
  }
}

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
