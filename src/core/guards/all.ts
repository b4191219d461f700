import { budgetGuard } from "./budget.ts";
import { forkGuard } from "./fork.ts";
import type { Guard } from "./guard.ts";
import { limitGuard } from "./limit.ts";
import { type Policy, policyGuard } from "./policy.ts";
import type { GuardedRun } from "./port.ts";

/** A run, and the configuration of its guards. */
export interface Guarded extends GuardedRun {
  readonly code: (Guard & NonNullable<GuardedRun["code"]>) | undefined;
  readonly deps: GuardedRun["deps"] & { readonly policy: Policy | undefined };
}

/**
 * The guards of this run's steps, in order. The policy's guard checks the budget again: while a person decides, the
 * rest of the run may use it up.
 */
export function guardsFor(execution: Guarded): readonly Guard[] {
  const { policy, rates } = execution.deps;
  const fork = forkGuard(execution);
  const code = execution.code ? [execution.code] : [];
  const asked = policy ? [policyGuard(policy)] : [];
  // Last: what a limit grants is used at once.
  const limited = rates ? [limitGuard(rates)] : [];
  return [...code, ...(fork ? [fork] : []), budgetGuard, ...asked, ...limited];
}
