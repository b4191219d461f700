import { HoldfastError } from "../errors.ts";
import { toError } from "../journal/values.ts";
import { about } from "../journal/wait-reason.ts";
import { baseName, countOf, isApproval } from "../keys.ts";
import type { Waiting } from "../types.ts";
import type { GuardedRun } from "./port.ts";

/**
 * The wait of a run whose code throws on what other code has recorded, before it does anything new. That isn't a
 * failure of the run: nothing is undone, and the run continues once the code is fixed. `undefined` when the failure is
 * the run's own.
 */
export function failsOnRecord(execution: GuardedRun, error: unknown): Waiting | undefined {
  const { restored, intents, writer, workflow, deps, state } = execution;
  if (!restored || intents > 0 || writer.row.control === "compensating") return undefined;
  if (execution.blamed.of(error).length > 0) return undefined;
  const { migratedAt, waivedAt } = state.facts;
  const last = lastRecorded(execution);
  if (waivedAt > last || (migratedAt <= last && !hasComeFurther(execution))) return undefined;
  const message = deps.values.headline(toError(error));
  const words = { workflow: workflow.name, version: workflow.version, message };
  const problem = new HoldfastError("HF-2163", words);
  return { kind: "migration", step: "", since: deps.time.now(), ...about(problem, problem.why) };
}

const lastRecorded = ({ state }: GuardedRun): number => {
  let last = 0;
  for (const [, { seq }] of [...state.steps(), ...state.loops()]) last = Math.max(last, seq);
  return last;
};

/** True when the journal holds records that the code hasn't asked for: the run once got further than this. */
function hasComeFurther({ rootScope: { node, counts }, code }: GuardedRun): boolean {
  if (code && code.missing().length > 0) return true;
  const isAsked = (name: string): boolean => (counts.get(baseName(name)) ?? 0) >= countOf(name);
  const loops = [...(node?.loops ?? [])].filter(([, { iteration }]) => iteration > 0);
  const names = [...(node?.records.keys() ?? []), ...loops.map(([name]) => name)];
  return names.some((name) => !isApproval(name) && !isAsked(name));
}
