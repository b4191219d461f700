import type { StepOptions } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { isEditedSince } from "../journal/answers.ts";
import { isSettled, type StepRecord } from "../journal/records.ts";
import { about } from "../journal/wait-reason.ts";
import { dataDigest } from "../values/codec.ts";
import type { GuardedPlace, GuardedRun } from "./port.ts";
import { argsDigest } from "./subject.ts";

/**
 * True when the step has ended and was called with other arguments. A result that a person has set since is valid for
 * any arguments.
 */
function isForOthers(execution: GuardedRun, { scope, name }: GuardedPlace, input: unknown): boolean {
  const record = scope.node?.records.get(name);
  if (!record || record.decidedAt !== undefined || !isSettled(record)) return false;
  if (record.args === argsDigest(execution, { input })) return false;
  const { state } = execution;
  const isOurs = record.seq > (state.facts.imported?.seq ?? 0);
  if (isOurs || input === undefined) return true;
  // Another store may have computed the digest with its own secret. Without an edit since, the arguments are the same.
  return record.args !== dataDigest(input) && isEditedSince(state, record.seq);
}

/**
 * Compares the input of a finished step with the one it was called with. It isn't called again, and its result stands,
 * with a warning. But where somebody has edited the run since, what a `keyed` or `once` step did for the earlier input is
 * not passed off as the answer to the new one: a person decides, as for the tools of agents.
 */
export function meetInput<T>(
  execution: GuardedRun,
  place: GuardedPlace,
  record: StepRecord,
  options: Pick<StepOptions<T>, "input">,
): Promise<void> | undefined {
  const { state, deps, runId, restored } = execution;
  if (!restored || record.args === undefined || record.decidedAt !== undefined || record.waived) return;
  const { imported, migratedAt } = state.facts;
  const isForeign = record.seq <= (imported?.seq ?? 0);
  if (isForeign || migratedAt > record.seq || argsDigest(execution, options) === record.args) return;
  const step = place.key;
  if (record.effect !== "repeatable" && isEditedSince(state, record.seq))
    return settleArguments(execution, place, options.input, new HoldfastError("HF-3101", { step }));
  const { code, message } = new HoldfastError("HF-2126", { step });
  deps.ports.logger.warn(message, { runId, code });
  return undefined;
}

/** Lets a person decide while the record belongs to other arguments than those asked for. */
export async function settleArguments(
  execution: GuardedRun,
  place: GuardedPlace,
  input: unknown,
  problem: HoldfastError,
): Promise<void> {
  const { key, scope } = place;
  while (isForOthers(execution, place, input)) {
    await execution.enter();
    const since = execution.deps.time.now();
    const wait = { kind: "review", step: key, since, ...about(problem, problem.why) } as const;
    await execution.wait(key, wait, scope.frame);
  }
}
