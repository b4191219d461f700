import type { HoldfastError } from "../errors.ts";
import { isEditedSince } from "../journal/answers.ts";
import { isSettled } from "../journal/records.ts";
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
