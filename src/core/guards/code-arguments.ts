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
 * Says when a finished step is asked for with another input than it was called with. Its result stands: it isn't called
 * again, and people who have changed something since know that.
 */
export function warnOfInput<T>(
  execution: GuardedRun,
  step: string,
  record: StepRecord,
  options: Pick<StepOptions<T>, "input">,
): void {
  const { state, deps, runId, restored } = execution;
  if (!restored || record.args === undefined || record.decidedAt !== undefined || record.waived) return;
  const { imported, migratedAt } = state.facts;
  const isForeign = record.seq <= (imported?.seq ?? 0);
  if (isForeign || migratedAt > record.seq || isEditedSince(state, record.seq)) return;
  if (argsDigest(execution, options) === record.args) return;
  const { code, message } = new HoldfastError("HF-2126", { step });
  deps.ports.logger.warn(message, { runId, code });
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
