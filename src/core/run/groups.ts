import { checkWhole } from "../check-options.ts";
import type { Branches, EachOptions, Settled, SettledOptions, StepCall, StepOptions } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { met } from "../guards/code-unasked.ts";
import { memberName, planNote } from "../keys.ts";
import { checkName } from "../names.ts";
import { innerAbort } from "./aborts.ts";
import type { ActiveRun } from "./active-run.ts";
import type { StepPlace } from "./call.ts";
import { type Scope, siblingScope } from "./scope.ts";
import { runStep } from "./steps.ts";

/** A group: parallel branches, each its own step, addressed by its index in the group. */
type Options = EachOptions | SettledOptions;

interface Branch {
  readonly segment: string;
  /** The item or branch it is for: policies receive it, and approvals are bound to it. */
  readonly about: { readonly item: unknown } | { readonly branch: string };
  readonly work: (call: StepCall) => unknown;
}

/** Runs the branches, at most `concurrency` at once, until the failure rule decides the group. */
async function runGroup(
  execution: ActiveRun,
  { scope, name, site }: StepPlace,
  branches: readonly Branch[],
  options: Options,
): Promise<Settled<unknown>[]> {
  announce(execution, scope, name, branches.length);
  for (const { segment } of branches) {
    const member = memberName(name, segment);
    execution.code?.asked(scope.prefix + member);
    met(execution, scope, member);
  }
  const results: Settled<unknown>[] = Array.from({ length: branches.length });
  const abort = innerAbort(scope.abort);
  const inner = siblingScope(scope, abort.signal);
  const rule = groupRule(options, branches.length);
  const step = branchOptions(options);
  let next = 0;
  const lane = async () => {
    while (next < branches.length && !rule.decided) {
      const index = next++;
      const { segment, work, about } = branches[index] as Branch;
      const member = memberName(name, segment);
      const place: StepPlace = { scope: inner, name: member, key: scope.prefix + member, site };
      try {
        results[index] = { ok: true, value: await runStep(execution, place, work, { ...step, ...about }) };
      } catch (error) {
        results[index] = { ok: false, error };
      }
      execution.deps.ports.probe("C10:branch-done", { runId: execution.runId, step: place.key });
      if (rule.take(results[index] as Settled<unknown>)) abort.abort(new HoldfastError("HF-1009"));
    }
  };
  const lanes = Math.min(options.concurrency ?? branches.length, branches.length);
  await Promise.all(Array.from({ length: lanes }, lane));
  abort.end();
  rule.check(execution, scope.prefix + name, results);
  return results;
}

/** Announces the number of branches, against which progress is measured. Written with the first branch's intent. */
function announce(execution: ActiveRun, scope: Scope, name: string, of: number): void {
  const note = planNote(name);
  if (of === 0 || scope.node?.notes.has(note)) return;
  execution.record({ kind: "plan_made", step: scope.prefix + note, meta: { of } });
}

function branchOptions(options: Options): StepOptions<unknown> {
  const { concurrency: _, failure: __, ...rest } = options;
  if ("quorum" in rest) {
    const { quorum: ___, ...step } = rest;
    return step;
  }
  return rest;
}

interface GroupRule {
  decided: boolean;
  /** Counts a result; returns whether it has decided the group. */
  take(result: Settled<unknown>): boolean;
  /** Throws the group's error, if it fails. */
  check(execution: ActiveRun, group: string, results: readonly Settled<unknown>[]): void;
}

function groupRule(options: Options, total: number): GroupRule {
  const failure = options.failure ?? "fail-fast";
  const quorum = options.failure === "quorum" ? checkWhole("quorum", options.quorum, 1, total) : total;
  let succeeded = 0;
  let failed = 0;
  return {
    decided: false,
    take(result) {
      if (result.ok) succeeded++;
      else failed++;
      if (failure === "continue") return false;
      this.decided = failed > total - quorum || (failure === "quorum" && succeeded >= quorum);
      return this.decided;
    },
    check(execution, group, results) {
      if (failure === "continue" || succeeded >= quorum) return;
      const errors = results.flatMap((result) => (result && !result.ok ? [result.error] : []));
      const error =
        failure === "quorum"
          ? new HoldfastError("HF-2106", { group, succeeded, total, quorum }, { cause: errors[0] })
          : firstCause(errors);
      execution.blamed.put(
        error,
        errors.flatMap((one) => execution.blamed.of(one)),
      );
      throw error;
    },
  };
}

/** Branches that were only aborted aren't the cause. */
const firstCause = (errors: readonly unknown[]): unknown =>
  errors.find(
    (error) =>
      !HoldfastError.is(error, "HF-1009") && (error as { name?: string } | null)?.name !== "AbortError",
  ) ?? errors[0];

const plain = (results: readonly Settled<unknown>[], options: Options): unknown[] =>
  options.failure === undefined || options.failure === "fail-fast"
    ? results.map((result) => (result.ok ? result.value : undefined))
    : results.map((result) => result ?? { ok: false, error: new HoldfastError("HF-1009") });

export async function each<I>(
  execution: ActiveRun,
  place: StepPlace,
  items: readonly I[],
  work: (item: I, index: number, call: StepCall) => unknown,
  options: Options,
): Promise<unknown[]> {
  const branches = items.map((item, index) => ({
    segment: String(index),
    about: { item },
    work: (call: StepCall) => work(item, index, call),
  }));
  const limited = { ...options, concurrency: options.concurrency ?? 8 };
  return plain(await runGroup(execution, place, branches, limited), options);
}

export async function all(
  execution: ActiveRun,
  place: StepPlace,
  given: Branches,
  options: Options,
): Promise<unknown> {
  const list = Object.entries(given as Readonly<Record<string, Branch["work"]>>).map(([segment, work]) => ({
    segment,
    about: { branch: segment },
    work,
  }));
  for (const { segment } of list) checkName(segment);
  const results = plain(await runGroup(execution, place, list, options), options);
  if (Array.isArray(given)) return results;
  return Object.fromEntries(list.map(({ segment }, index) => [segment, results[index]]));
}
