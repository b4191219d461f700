import { checkAudit } from "../audit/options.ts";
import {
  badOption,
  checkFlag,
  checkFunction,
  checkKeys,
  checkMethod,
  checkNumber,
  checkObject,
  keysOf,
} from "../check-options.ts";
import type { Clock } from "../clock.ts";
import type { CancelOptions, PauseOptions, ResumeOptions } from "../control/control.ts";
import type { Answer, Resolution } from "../control/decisions.ts";
import type { InjectOptions } from "../control/inject.ts";
import type { RetryOptions } from "../control/retry.ts";
import { HoldfastError } from "../errors.ts";
import { checkContentCheck } from "../guards/content.ts";
import { checkPolicy } from "../guards/policy.ts";
import { checkId, type Ids } from "../ids.ts";
import { type Act, checkAct, type NamedAct } from "../journal/act.ts";
import type { Logger } from "../logger.ts";
import type { ForkOptions } from "../manage/fork/fork.ts";
import type { PlanOptions } from "../manage/plan/plan-types.ts";
import type { ReplayOptions } from "../manage/replay/replay-run.ts";
import { checkNamed } from "../names.ts";
import { checkStrategy, type StartOptions } from "../options.ts";
import type { ExecutionSettings } from "../run/execution-deps.ts";
import { triggerSettings } from "../run/triggers.ts";
import { checkStore } from "../store/check-store.ts";
import type { Redaction } from "../values/redact.ts";
import type { EngineOptions } from "./options.ts";

/** The border of the engine: arguments of the wrong kind and misspelled options are refused here (HF-1003). */
const ACT = { actor: true, reason: true, id: true, seen: true } as const;

const VERBS = {
  start: keysOf<StartOptions>({
    actor: true,
    reason: true,
    id: true,
    budget: true,
    config: true,
    name: true,
    labels: true,
    queue: true,
    key: true,
    priority: true,
    startAt: true,
    singleton: true,
    debounceMs: true,
    traceparent: true,
  }),
  pause: keysOf<PauseOptions>({ ...ACT, children: true }),
  resume: keysOf<ResumeOptions & { children?: boolean }>({
    ...ACT,
    retryFailed: true,
    now: true,
    set: true,
    inject: true,
    budget: true,
    children: true,
  }),
  cancel: keysOf<CancelOptions>({ ...ACT, compensate: true }),
  inject: keysOf<InjectOptions>({ ...ACT, children: true, to: true }),
  signal: keysOf<NamedAct>(ACT),
  retry: keysOf<RetryOptions>({ ...ACT, now: true, newKey: true }),
  answer: keysOf<Answer>({ ...ACT, choice: true, text: true, data: true, digest: true }),
  resolve: keysOf<(Resolution & NamedAct) | CancelOptions>({
    ...ACT,
    action: true,
    newKey: true,
    value: true,
    error: true,
    compensate: true,
  }),
  fork: keysOf<ForkOptions>({ actor: true, reason: true, id: true, set: true, effects: true, budget: true }),
  replay: keysOf<ReplayOptions>({ workflow: true }),
  plan: keysOf<PlanOptions>({ set: true, inject: true, budget: true, retryFailed: true, now: true }),
} as const;

/** Refuses options that the verb doesn't have. */
export const checkVerb = (verb: keyof typeof VERBS, options: unknown): void =>
  checkKeys(options, VERBS[verb]);

/** The same, and a run's id; with `requireReason`, the options must say who acts and why. */
export function checkCall(
  verb: keyof typeof VERBS,
  runId: string,
  options: object,
  { requireReason }: Pick<EngineOptions, "requireReason"> = {},
): void {
  checkId(runId);
  checkActs(verb, options);
  checkReason(verb, options, { requireReason });
}

/** With `requireReason`: refuses an act that doesn't say who acts and why. */
export function checkReason(
  verb: string,
  act: Act,
  { requireReason }: { readonly requireReason?: boolean | undefined },
): void {
  const missing = (["actor", "reason"] as const).filter((part) => !act[part]);
  if (requireReason && missing.length > 0)
    throw new HoldfastError("HF-4365", { verb, missing: missing.join(" and ") });
}

/** Refuses wrong options, for one run or for many; `plan` is no act. */
export function checkActs(verb: keyof typeof VERBS, options: object): void {
  checkVerb(verb, options);
  if (verb !== "plan") checkAct(options);
}

const ENGINE = keysOf<EngineOptions>({
  store: true,
  workflows: true,
  schedules: true,
  alerts: true,
  rateLimits: true,
  queues: true,
  execute: true,
  saving: true,
  checkpoint: true,
  owner: true,
  claimMs: true,
  sweepMs: true,
  concurrency: true,
  recovery: true,
  holdMs: true,
  quietMs: true,
  storePatienceMs: true,
  onSaveFailure: true,
  triggers: true,
  pressure: true,
  assumedStepMs: true,
  policy: true,
  contentCheck: true,
  retention: true,
  redact: true,
  secrets: true,
  limits: true,
  clock: true,
  ids: true,
  logger: true,
  probe: true,
  processes: true,
  requireReason: true,
  observe: true,
  audit: true,
});

const CLOCK: readonly (keyof Clock)[] = ["now", "monotonic", "setTimer", "defer"];
const IDS: readonly (keyof Ids)[] = ["runId", "token", "id", "random"];
const LOGGER: readonly (keyof Logger)[] = ["debug", "info", "warn", "error"];

/** Runs are found again by the name of their workflow: of two with one name, the first would never be called. */
function checkNamesDiffer(workflows: NonNullable<EngineOptions["workflows"]>): void {
  const known = new Map<string, unknown>();
  for (const one of workflows) {
    const { name } = Object(one) as { readonly name?: string };
    if (name === undefined) continue;
    if ((known.get(name) ?? one) !== one) throw badOption("workflows", `two of them are named ${name}`);
    known.set(name, one);
  }
}

export function checkEngineOptions(options: EngineOptions): void {
  checkKeys(options, ENGINE);
  checkStore("store", options.store);
  if (options.audit !== undefined) checkAudit(options.audit);
  if (options.clock !== undefined) checkPart("clock", options.clock, CLOCK);
  if (options.ids !== undefined) checkPart("ids", options.ids, IDS);
  if (options.logger !== undefined) checkPart("logger", options.logger, LOGGER);
  for (const one of [options.observe ?? []].flat()) checkPart("observe", one, ["observe"]);
  if (options.workflows !== undefined && !Array.isArray(options.workflows))
    throw badOption("workflows", "it must be a list of workflows");
  checkNamesDiffer(options.workflows ?? []);
  for (const name of ["rateLimits", "queues"] as const)
    if (options[name] !== undefined) checkObject(name, options[name], `an object of ${name}`);
  if (options.schedules && !Array.isArray(options.schedules))
    throw badOption("schedules", "it must be a list of schedules, or false");
  checkPolicy(options.policy);
  checkStrategy(options.checkpoint);
  triggerSettings(options.triggers);
  checkContentCheck(options.contentCheck);
  if (options.owner !== undefined) checkNamed("worker", options.owner, 200);
  checkFlag("execute", options.execute);
  checkFlag("saving", options.saving);
  checkFlag("requireReason", options.requireReason);
  for (const name of ["pressure", "probe"] as const)
    if (options[name] !== undefined) checkFunction(name, options[name]);
  for (const name of ["holdMs", "quietMs", "assumedStepMs"] as const)
    if (options[name] !== undefined) checkNumber(name, options[name], { least: 0, most: Infinity });
  if (options.concurrency !== undefined) checkNumber("concurrency", options.concurrency);
  if (options.secrets !== undefined) checkPart("secrets", options.secrets, ["get"]);
  if (options.redact !== undefined) checkRedaction(options.redact);
  checkLimits(options.limits);
}

/** The settings of runs that are advanced here. */
export const executionSettings = (
  { holdMs = 5_000, quietMs = 100, assumedStepMs = 300_000, checkpoint, triggers }: EngineOptions,
  claimMs: number,
): ExecutionSettings => ({
  claimMs,
  holdMs,
  quietMs,
  assumedStepMs,
  triggers: triggerSettings(triggers),
  every: checkpoint?.every ?? 1,
});

function checkPart<T extends object>(option: string, part: T, methods: readonly (keyof T & string)[]): void {
  if ((typeof part !== "object" && typeof part !== "function") || part === null)
    throw badOption(option, "it must be an object");
  for (const method of methods) checkMethod(option, part, method);
}

function checkRedaction(redact: Redaction): void {
  checkKeys(redact, ["builtIn", "patterns", "values"], "redact");
  for (const name of ["patterns", "values"] as const)
    if (redact[name] !== undefined && !Array.isArray(redact[name]))
      throw badOption(`redact.${name}`, "it must be a list");
}

function checkLimits(limits: EngineOptions["limits"]): void {
  if (limits === undefined) return;
  checkKeys(limits, ["valueBytes", "warnBytes"], "limits");
  for (const [name, value] of Object.entries(limits))
    checkNumber(`limits.${name}`, value, { least: 0, most: Infinity });
}
