import type { StepOptions, Verdict } from "../context.ts";
import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import { argsDigest } from "../guards/subject.ts";
import { fingerprint } from "../hash.ts";
import type { StepRecord } from "../journal/records.ts";
import { toError } from "../journal/values.ts";
import { isStoreFault } from "../store/faults.ts";
import type { Effect } from "../types.ts";
import type { ActiveRun } from "./active-run.ts";
import { Handle, type StepPlace } from "./call.ts";
import { keyAnswer, keyProblem } from "./key-answer.ts";
import { mustSettle } from "./undo-doubts.ts";

/** Unknown outcomes: there is an intent and no outcome. The effect class decides; nothing is guessed. */
const DAY_MS = 86_400_000;
/** A key may be forgotten slightly before its declared time. */
const WINDOW_MARGIN = 0.9;

/**
 * `call`: it may be called (again). `decided`: it was in doubt, and was resolved. Otherwise the value that the verify
 * hook found.
 */
export type Settlement<T> = "call" | "decided" | { readonly value: T };

export async function settleUnknown<T>(
  execution: ActiveRun,
  place: StepPlace,
  options: StepOptions<T>,
  record: StepRecord,
): Promise<Settlement<T>> {
  const effect = stricter(record.effect, options.effect ?? "repeatable");
  // A run that is being cancelled doesn't repeat an undoable call to learn its outcome.
  const isUndone = mustSettle(execution, record);
  if (effect === "repeatable" && !isUndone) return "call";
  if (!isOwnKey(execution, place.key, record)) {
    await enterDoubt(execution, place, record);
    return "decided";
  }
  if (effect === "keyed" && !isUndone && keyHolds(execution, options, record)) {
    if (record.args === argsDigest(execution, options)) return "call";
    const reason = new HoldfastError("HF-2104", { step: place.key, digest: record.args ?? "none" });
    await enterDoubt(execution, place, record, { reason });
    return "decided";
  }
  const verdict = await askVerify(execution, place, options, record);
  if (verdict.status === "done") return { value: verdict.value };
  if (verdict.status === "not-done") return "call";
  await enterDoubt(execution, place, record);
  return "decided";
}

const STRICT: readonly Effect[] = ["repeatable", "keyed", "once"];

/** If the code has changed the effect of a call in progress, the stricter one counts. */
const stricter = (recorded: Effect, now: Effect): Effect =>
  STRICT.indexOf(now) > STRICT.indexOf(recorded) ? now : recorded;

/**
 * True when the step was begun under this store's key for it. A run from another store began it under a key that can't
 * be reproduced here: the receiver wouldn't recognise the next call, and a hook that looks for the key wouldn't find
 * the effect.
 */
export function isOwnKey(execution: ActiveRun, step: string, { key, call }: StepRecord): boolean {
  return key === undefined || key === fingerprint(execution.idempotencyKey(step, call));
}

function keyHolds<T>(execution: ActiveRun, options: StepOptions<T>, record: StepRecord): boolean {
  const age = execution.deps.time.now() - record.since;
  return age < (options.keyWindowMs ?? DAY_MS) * WINDOW_MARGIN;
}

export async function askVerify<T>(
  execution: ActiveRun,
  place: StepPlace,
  options: StepOptions<T>,
  record: StepRecord,
): Promise<Verdict<T>> {
  if (!options.verify) return { status: "unknown" };
  const { effect, attempt, call } = record;
  const handle = new Handle(execution, place, options, { type: "call", effect, attempt, call });
  execution.calls.start();
  try {
    return await options.verify(handle);
  } catch (error) {
    const problem = new HoldfastError("HF-2111", { verb: "verify", step: place.key, message: String(error) });
    execution.deps.ports.logger.error(problem.message, { runId: execution.runId, code: problem.code });
    return { status: "unknown" };
  } finally {
    execution.callEnded(handle.frame);
  }
}

export interface Doubt {
  /** Default: it was begun, and its outcome was not recorded. */
  readonly reason?: HoldfastError;
  /** Set when the call has ended, so that it can't still be in progress. */
  readonly ended?: true;
  /** A person may have it called under a new key. */
  readonly newKey?: true;
}

/** Records that the outcome is unknown, and waits until it is known. */
export async function enterDoubt(
  execution: ActiveRun,
  place: StepPlace,
  record: StepRecord,
  { reason = unknown(place.key, record), ended, newKey }: Doubt = {},
): Promise<void> {
  const { settings, time, values } = execution.deps;
  const stillAtIt =
    ended || isCallerGone(execution, record)
      ? 0
      : settings.claimMs + (record.timeoutMs ?? settings.assumedStepMs);
  const { data, blobs } = values.encode(place.key, reason);
  const rerunAfter = time.now() + stillAtIt;
  const meta = { attempt: record.attempt, rerunAfter, ...defined({ newKey }) };
  await execution.contest({ kind: "step_in_doubt", step: place.key, meta, data }, blobs);
  await awaitDecision(execution, place);
}

/** True when the call was made by a process that is provably gone. */
function isCallerGone({ state }: ActiveRun, { seq }: StepRecord): boolean {
  const { gone } = state.facts;
  return gone !== undefined && gone.from < seq && seq < gone.to;
}

const unknown = (step: string, { attempt }: StepRecord): HoldfastError =>
  new HoldfastError("HF-2103", { step, attempt });

/** Waits until a person, or the late outcome itself, decides. */
export async function awaitDecision(execution: ActiveRun, { key, scope }: StepPlace): Promise<void> {
  for (;;) {
    const record = execution.state.find(key);
    if (record?.status !== "in_doubt") return;
    const reason = await execution.read(() => reasonOf(execution, record));
    if (execution.state.find(key)?.status !== "in_doubt") return;
    const problem = reason instanceof Error ? reason : unknown(key, record);
    const code = HoldfastError.is(problem) ? { code: problem.code } : {};
    const since = execution.deps.time.now();
    const wait = { kind: "decision", step: key, since, detail: problem.message, ...code } as const;
    await execution.wait(key, wait, scope.frame);
  }
}

/** The reason recorded when it became doubtful; nothing if that has been dropped. */
async function reasonOf({ deps, runId }: ActiveRun, { data, seq }: StepRecord): Promise<unknown> {
  try {
    return await deps.values.of(runId, { data, seq });
  } catch (error) {
    if (HoldfastError.is(error) && !isStoreFault(error)) return undefined;
    throw error;
  }
}

/**
 * The doubt that a failed `keyed` call's error raises about its key. A call in flight at the receiver is waited for
 * first.
 */
export function keyDoubt<T>(
  execution: ActiveRun,
  place: StepPlace,
  { effect, onKeyRejected = "ask" }: StepOptions<T>,
  thrown: unknown,
  isTriedAgain: boolean,
): Doubt | undefined {
  const answer = effect === "keyed" && onKeyRejected !== "fail" ? keyAnswer(thrown) : undefined;
  if (!answer || (answer === "in-flight" && isTriedAgain)) return undefined;
  const reason = keyProblem(answer, place.key, execution.deps.values.headline(toError(thrown)));
  // While a call is in flight, one under another key would be a second one.
  const mayRekey = onKeyRejected === "new-key" && answer !== "in-flight";
  return { reason, ended: true, ...(mayRekey ? { newKey: true } : {}) };
}

/** A call that threw without proof that it did nothing. After a timeout it may still be running. */
export function thrownDoubt({ deps }: ActiveRun, step: string, thrown: unknown): Doubt {
  if (HoldfastError.is(thrown, "HF-2102")) return { reason: thrown };
  const message = deps.values.headline(toError(thrown));
  return { reason: new HoldfastError("HF-2200", { step, message }), ended: true };
}
