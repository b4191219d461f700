/** What a workflow passes to the verbs of `ctx`: a mistake is refused (HF-1003) before anything is recorded. */
import {
  badOption,
  checkFlag,
  checkFunction,
  checkKeys,
  checkNumber,
  checkObject,
  checkOneOf,
  checkText,
  checkWhole,
  isRecord,
  keysOf,
} from "../check-options.ts";
import type {
  AgentState,
  Branches,
  Decision,
  EachOptions,
  LoopOptions,
  SettledOptions,
  SignalOptions,
  StepOptions,
  TransactionOptions,
  UndoOptions,
} from "../context.ts";
import type { ChildOptions } from "../options.ts";
import type { LimitUse } from "../rate-limit.ts";
import { limitUses } from "../rate-limit.ts";
import type { Effect } from "../types.ts";
import type { UsageReport } from "../usage.ts";
import { checkKeyOption } from "./key-answer.ts";
import { defaultRetry, retryPolicy } from "./retry.ts";

const EFFECTS: readonly Effect[] = ["repeatable", "keyed", "once"];

const STEP = keysOf<StepOptions>({
  effect: true,
  input: true,
  retry: true,
  timeoutMs: true,
  limit: true,
  flush: true,
  keyWindowMs: true,
  onKeyRejected: true,
  verify: true,
  simulate: true,
  compensate: true,
});
const NOT_OF_MEMBERS: readonly string[] = ["verify", "simulate", "compensate", "input"] satisfies Exclude<
  keyof StepOptions,
  keyof EachOptions
>[];
const GROUP = [...STEP.filter((key) => !NOT_OF_MEMBERS.includes(key)), "concurrency", "failure", "quorum"];
const UNDO = keysOf<UndoOptions<unknown>>({ undo: true, timeoutMs: true, verify: true });
const LIMIT = keysOf<LimitUse>({ name: true, tokens: true, isOptional: true });
const LOOP = keysOf<LoopOptions>({ maxIterations: true, every: true });
const SIGNAL = keysOf<SignalOptions>({ or: true, timeoutMs: true });
const CHILD = keysOf<ChildOptions>({ name: true, labels: true, queue: true, key: true, priority: true });
const USAGE = keysOf<UsageReport>({ tokens: true, costUsd: true, model: true });
const TRANSACTION = keysOf<TransactionOptions>({ input: true });

/** Passing a call instead of a function is the commonest mistake: the call is made, whatever the journal says. */
export function checkWork(work: unknown, option = "work"): void {
  if (typeof work === "function") return;
  if (work instanceof Promise) {
    // It has been made, and nobody else awaits it.
    work.catch(() => undefined);
    throw badOption(option, "it is a promise, so its call was already made. Pass a function: () => call()");
  }
  throw badOption(option, "it must be a function, such as () => call()");
}

export function checkStepOptions<T>(options: StepOptions<T> | undefined): void {
  if (options === undefined) return;
  checkKeys(options, STEP);
  checkCallOptions(options);
}

/** Those that a step and the members of a group have in common, and the hooks of a step. */
function checkCallOptions<T>(options: StepOptions<T>): void {
  const { effect, timeoutMs, keyWindowMs, verify, simulate } = options;
  if (effect !== undefined) checkOneOf("effect", effect, EFFECTS);
  if (options.retry !== undefined) retryPolicy(options.retry, defaultRetry);
  if (timeoutMs !== undefined) checkNumber("timeoutMs", timeoutMs, { least: 0 });
  if (keyWindowMs !== undefined) checkNumber("keyWindowMs", keyWindowMs, { least: 0, most: Infinity });
  checkFlag("flush", options.flush);
  checkKeyOption(options);
  if (verify !== undefined) checkFunction("verify", verify);
  if (simulate !== undefined) checkFunction("simulate", simulate);
  checkUndo(options.compensate);
  if (options.limit !== undefined) checkLimits(options.limit);
}

function checkUndo<T>(undo: StepOptions<T>["compensate"]): void {
  if (undo === undefined || typeof undo === "function") return;
  checkObject("compensate", undo, "a function, or an object with undo");
  checkKeys(undo, UNDO, "compensate");
  checkFunction("compensate.undo", undo.undo);
  if (undo.timeoutMs !== undefined) checkNumber("compensate.timeoutMs", undo.timeoutMs, { least: 0 });
  if (undo.verify !== undefined) checkFunction("compensate.verify", undo.verify);
}

function checkLimits(limit: StepOptions["limit"]): void {
  for (const use of limitUses(limit)) {
    checkObject("limit", use, "the name of a rate limit, an object with its name, or a list of these");
    checkKeys(use, LIMIT, "limit");
    checkText("limit.name", use.name, 1);
    if (use.tokens !== undefined) checkNumber("limit.tokens", use.tokens, { least: 0 });
    checkFlag("limit.isOptional", use.isOptional);
  }
}

export function checkGroupOptions(options: EachOptions | SettledOptions): void {
  checkKeys(options, GROUP);
  checkCallOptions(options);
  const { failure, concurrency } = options;
  if (concurrency !== undefined) checkWhole("concurrency", concurrency);
  if (failure !== undefined) checkOneOf("failure", failure, ["fail-fast", "continue", "quorum"]);
  if ("quorum" in options && options.quorum !== undefined && failure !== "quorum")
    throw badOption("quorum", 'it counts only with failure: "quorum"');
}

export function checkItems(items: unknown): void {
  if (!Array.isArray(items))
    throw badOption("items", "it must be a list; make one of anything else with Array.from(items)");
}

export function checkBranches(branches: Branches): void {
  if (!Array.isArray(branches) && !isRecord(branches))
    throw badOption("branches", "they must be a list of functions, or an object of functions");
  for (const [name, work] of Object.entries(branches)) checkWork(work, `branch ${name}`);
}

export function checkLoop(initial: unknown, body: unknown, options: LoopOptions): void {
  if (typeof initial !== "object" || initial === null)
    throw badOption("initial", "it must be an object: the body changes it");
  checkFunction("body", body);
  checkKeys(options, LOOP);
  if (options.maxIterations !== undefined)
    checkNumber("maxIterations", options.maxIterations, { least: 0, most: Infinity });
}

export function checkSignalOptions(options: SignalOptions): void {
  checkKeys(options, SIGNAL);
  if (options.or !== undefined && !Array.isArray(options.or))
    throw badOption("or", "it must be a list of names");
}

export function checkTransaction(work: unknown, options: TransactionOptions): void {
  checkFunction("work", work);
  checkKeys(options, TRANSACTION);
}

export const checkChildOptions = (options: ChildOptions): void => checkKeys(options, CHILD);

export function checkPlan(steps: unknown): void {
  if (!Array.isArray(steps)) throw badOption("steps", "they must be a list of names");
}

export function checkDecision(decision: Decision): void {
  checkObject("decision", decision, "an object with a description");
  checkText("decision.description", decision.description);
}

export function checkAgentState(state: AgentState): void {
  checkObject("state", state, "an object with a status");
  checkText("state.status", state.status);
}

/** Other names of tokens would count as none: a provider's own report has to be added up first. */
export const checkUsage = (report: UsageReport): void => checkKeys(report, USAGE, "usage");
