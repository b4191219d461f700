import { HoldfastError } from "../errors.ts";
import { toError } from "../journal/values.ts";
import { about } from "../journal/wait-reason.ts";
import { baseName, countOf, isApproval } from "../keys.ts";
import type { Waiting } from "../types.ts";
import type { GuardedRun } from "./port.ts";

/**
 * What a run waits for whose code throws on what other code has recorded, before it does anything new. That is no failure of the run:
 * nothing is undone, and nobody has to revive it once the code is mended. `undefined` when the failure is the run's own.
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

/** The journal holds what the code has not asked for: it went on from here once. */
function hasComeFurther({ rootScope: { node, counts }, code }: GuardedRun): boolean {
  if (code && code.missing().length > 0) return true;
  const isAsked = (name: string): boolean => (counts.get(baseName(name)) ?? 0) >= countOf(name);
  const loops = [...(node?.loops ?? [])].filter(([, { iteration }]) => iteration > 0);
  const names = [...(node?.records.keys() ?? []), ...loops.map(([name]) => name)];
  return names.some((name) => !isApproval(name) && !isAsked(name));
}
