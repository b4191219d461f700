import type { Execution } from "../run/execution.ts";
import { budgetGuard } from "./budget.ts";
import { forkGuard } from "./fork.ts";
import type { Guard } from "./guard.ts";
import { policyGuard } from "./policy.ts";

/**
 * The guards that stand before this run's steps, in the order they are asked. The policy's looks at the budget again: while a person
 * decides, the rest of the run may use it up.
 */
export function guardsFor(execution: Execution): readonly Guard[] {
  const { policy } = execution.deps;
  const fork = forkGuard(execution);
  const code = execution.code ? [execution.code] : [];
  return [...code, ...(fork ? [fork] : []), budgetGuard, ...(policy ? [policyGuard(policy)] : [])];
}
