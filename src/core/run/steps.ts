import type { OpenStep, StepCall, StepHandle, StepOptions, Undo, UndoOptions } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { meetInput } from "../guards/code-arguments.ts";
import { type Admission, type Admitted, admit } from "../guards/guard.ts";
import { holdLimits, untilTimely } from "../guards/limit.ts";
import { hasChanged, stillAdmitted } from "../guards/subject.ts";
import type { EventDraft, StepStarted } from "../journal/events.ts";
import { decidedAt, type StepRecord } from "../journal/records.ts";
import type { Encoded } from "../journal/values.ts";
import { undoKey } from "../keys.ts";
import { addSite } from "../values/stack.ts";
import { type ActiveRun, never } from "./active-run.ts";
import { admissionOf } from "./admission.ts";
import { decideRetry, tooLong } from "./after-failure.ts";
import { callWork, Handle, type StepPlace } from "./call.ts";
import {
  askVerify,
  awaitDecision,
  type Doubt,
  enterDoubt,
  isOwnKey,
  keyDoubt,
  settleUnknown,
  thrownDoubt,
} from "./doubt.ts";
import { provesNotDone } from "./failures.ts";
import { intended } from "./intended.ts";
import { recordedValue, refuseInside } from "./recorded.ts";
import { isFatal, retryAfterMs } from "./retry.ts";
import { hasUndosInside, isCancelling, isOpenFailure, mustSettle } from "./undo-doubts.ts";

/**
 * The step protocol: look up, decide what an unknown outcome allows, write the intent, call, write the outcome. The
 * outcome isn't awaited: it is written with the next intent, and nothing acts before that append is durable.
 */
export async function runStep<T>(
  execution: ActiveRun,
  place: StepPlace,
  work: (call: StepCall) => T | Promise<T>,
  options: StepOptions<T> = {},
): Promise<T> {
  const known = place.scope.node?.records.get(place.name);
  // The common case of a replay, on a fast path: every resume walks through the whole history.
  if (known?.status === "completed" && execution.isOpen) {
    if (isCancelling(execution)) await meetUndos(execution, place, work, options, known);
    const meeting = options.input === undefined ? undefined : meetInput(execution, place, known, options);
    if (meeting) return meeting.then(() => runStep(execution, place, work, options));
    const value = recordedValue(execution, place.key, known);
    return replayed(execution, place, options, known, (value instanceof Promise ? await value : value) as T);
  }
  if (known?.status === "started" && isCancelling(execution))
    await meetUndos(execution, place, work, options, known);
  return callStep(execution, await beginStep(execution, place, options), work);
}

/** Calls a step that has begun, again after failures as its policy says, and records its outcome. */
export async function callStep<T>(
  execution: ActiveRun,
  begun: StepHandle<T>,
  work: (call: StepCall) => T | Promise<T>,
): Promise<T> {
  let handle = begun;
  while (!handle.done) {
    const open = handle as Handle<T>;
    let value: T;
    try {
      const made = callWork(execution, open, work);
      value = made instanceof Promise ? await made : made;
    } catch (error) {
      handle = await failStep(execution, open, error);
      continue;
    }
    const ended = endStep(execution, open, value);
    return ended instanceof Promise ? await ended : ended;
  }
  return handle.value;
}

export function beginStep<T>(
  execution: ActiveRun,
  place: StepPlace,
  options: StepOptions<T> = {},
): Promise<StepHandle<T>> {
  return execution.isOpen
    ? beginNow(execution, place, options)
    : execution.enter().then(() => beginNow(execution, place, options));
}

function beginNow<T>(
  execution: ActiveRun,
  place: StepPlace,
  options: StepOptions<T>,
): Promise<StepHandle<T>> {
  // An abandoned call may still be running; whatever it starts now leads nowhere.
  if (place.scope.frame?.ended) return never();
  refuseInside(place);
  const record = place.scope.node?.records.get(place.name);
  return record
    ? continueStep(execution, place, options, record)
    : startStep(execution, place, options, undefined);
}

/** Handles a step that the journal already knows. */
async function continueStep<T>(
  execution: ActiveRun,
  place: StepPlace,
  options: StepOptions<T>,
  record: StepRecord,
): Promise<StepHandle<T>> {
  switch (record.status) {
    case "completed":
      return {
        done: true,
        value: replayed(
          execution,
          place,
          options,
          record,
          (await recordedValue(execution, place.key, record)) as T,
        ),
      };
    case "failed":
      return continueFailed(execution, place, options, record);
    case "in_doubt":
      await awaitDecision(execution, place);
      return continueStep(execution, place, options, execution.state.find(place.key) ?? record);
    case "started":
      if (record.rerun && !mustSettle(execution, record)) return startStep(execution, place, options, record);
      return continueUnknown(execution, place, options, record);
  }
}

/**
 * A run that is being undone must know how to undo what happened inside a step that has finished or was in progress.
 * Only the code knows, so the step's function runs once more; every inner call of the run is answered from the journal,
 * or doesn't begin.
 */
async function meetUndos<T>(
  execution: ActiveRun,
  place: StepPlace,
  work: (call: StepCall) => T | Promise<T>,
  options: StepOptions<T>,
  record: StepRecord,
): Promise<void> {
  if (record.effect !== "repeatable" || !hasUndosInside(execution.state, place.key)) return;
  const { attempt, call, type, effect } = record;
  const handle = new Handle(execution, place, options, { type, effect, attempt, call });
  execution.calls.start();
  try {
    await callWork(execution, handle, work);
  } catch {
    // Its outcome is in the journal; only the undos it registered count here.
  }
  execution.callEnded(handle.frame);
}

/** Called when a step is answered from the journal: restores what belongs to its outcome. */
function replayed<T>(
  execution: ActiveRun,
  place: StepPlace,
  options: StepOptions<T>,
  record: StepRecord,
  value: T,
): T {
  execution.memory.replayStep(place.key, decidedAt(record));
  addCompensation(execution, place, options, record, value);
  return value;
}

async function continueFailed<T>(
  execution: ActiveRun,
  place: StepPlace,
  options: StepOptions<T>,
  record: StepRecord,
): Promise<StepHandle<T>> {
  if (mustSettle(execution, record) && (await execution.busy(isOpenFailure(execution, record))))
    return continueUnknown(execution, place, options, record);
  if (record.retryAt !== undefined) {
    await waitForRetry(execution, place);
    const now = execution.state.find(place.key) ?? record;
    // A call that has become `once` isn't repeated just because it was repeatable when it began.
    const isStricter = options.effect === "once" && now.effect !== "once";
    if (isStricter || !isOwnKey(execution, place.key, now))
      return continueUnknown(execution, place, options, now);
    return startStep(execution, place, options, now);
  }
  const error = await recordedValue(execution, place.key, record);
  if (record.reopened) {
    // A failed `once` call is retried only if the error itself proves that nothing happened; the same goes for one
    // under a foreign key.
    const isSafe = record.effect !== "once" && isOwnKey(execution, place.key, record);
    if (isSafe || provesNotDone(error, record)) {
      await waitForRetry(execution, place);
      return startStep(execution, place, options, execution.state.find(place.key) ?? record);
    }
    return continueUnknown(execution, place, options, record);
  }
  execution.memory.met(decidedAt(record));
  execution.blamed.put(error, [place.key]);
  throw error;
}

async function continueUnknown<T>(
  execution: ActiveRun,
  place: StepPlace,
  options: StepOptions<T>,
  record: StepRecord,
): Promise<StepHandle<T>> {
  const { status } = record;
  const settled = await settleUnknown(execution, place, options, record);
  const again = () => continueStep(execution, place, options, execution.state.find(place.key) ?? record);
  // The outcome itself may have arrived while the hook was running.
  if (settled === "decided" || execution.state.find(place.key)?.status !== status) return again();
  if (settled === "call" && mustSettle(execution, record)) {
    await execution.contest(notDone(execution, place, record));
    return again();
  }
  if (settled === "call") return startStep(execution, place, options, record);
  const encoded = execution.deps.values.encode(place.key, settled.value, place.scope.shared);
  const completed = { kind: "step_completed", step: place.key, meta: {}, data: encoded.data } as const;
  if (!(await execution.contest(completed, encoded.blobs))) return again();
  const value = execution.deps.values.echo(encoded) as T;
  addCompensation(execution, place, options, record, value);
  return { done: true, value };
}

/** The hook says that nothing was done, and a run that is being cancelled doesn't call it. */
function notDone(execution: ActiveRun, { key: step }: StepPlace, { attempt }: StepRecord): EventDraft {
  const { data } = execution.deps.values.encode(step, new HoldfastError("HF-2188", { step }));
  return { kind: "step_failed", step, meta: { attempt, harmless: true }, data };
}

async function startStep<T>(
  execution: ActiveRun,
  place: StepPlace,
  options: StepOptions<T>,
  record: StepRecord | undefined,
): Promise<StepHandle<T>> {
  const started = intended(execution, place, options, record);
  execution.deps.ports.probe("C03:before-intent", { runId: execution.runId, step: place.key });
  const admission = admissionOf(execution, place, options, started);
  return startAdmitted(execution, options, admission, admit(execution.guards, admission), record);
}

/** Writes the intent of a call as soon as its guards have answered. */
export async function startAdmitted<T>(
  execution: ActiveRun,
  options: StepOptions<T>,
  admission: Admission & { readonly place: StepPlace },
  answer: Admitted | Promise<Admitted>,
  record: StepRecord | undefined,
): Promise<StepHandle<T>> {
  const { place, intent: started } = admission;
  const admitted = answer instanceof Promise ? await answer : answer;
  if (admitted && "value" in admitted) return standIn(execution, place, started, admitted);
  if (hasChanged(execution, options, started)) return startStep(execution, place, options, record);
  const meta = admitted ? { ...started, ...admitted.note } : started;
  const intent = { kind: "step_started", step: place.key, meta } as const;
  const holds = meta.policy === undefined ? undefined : stillAdmitted(execution, place, options, meta);
  if (!(await execution.intent(intent, place.scope.frame, { holds })))
    return beginStep(execution, place, options);
  if (admission.grants.length > 0) await untilTimely(execution, admission.grants);
  if (execution.closed) await never();
  return begunCall(execution, place, options, started);
}

/** The right to call, once the intent is durable. */
export function begunCall<T>(
  execution: ActiveRun,
  place: StepPlace,
  options: StepOptions<T>,
  started: StepStarted,
): Handle<T> {
  execution.deps.ports.probe("C05:before-call", { runId: execution.runId, step: place.key });
  execution.calls.start();
  return new Handle(execution, place, options, started);
}

/**
 * A guard knows the value: nothing is called, and the journal records that in one write, because an intent alone could
 * be taken for a call.
 */
export async function standIn<T>(
  execution: ActiveRun,
  place: StepPlace,
  intent: StepStarted,
  { value, instead }: { readonly value: unknown; readonly instead: "reused" | "simulated" },
): Promise<StepHandle<T>> {
  const { values } = execution.deps;
  const { key: step, scope } = place;
  const encoded = values.encode(step, value, scope.shared);
  const { data, blobs } = encoded;
  // No compensation: what wasn't done here isn't undone here.
  const { undo: _, ...meta } = intent;
  const started = { kind: "step_started", step, meta } as const;
  const completed = { kind: "step_completed", step, meta: { instead }, data } as const;
  await execution.decideUncalled(started, completed, blobs, scope.frame);
  return { done: true, value: values.echo(encoded) as T };
}

export const completeStep = async <T>(execution: ActiveRun, handle: OpenStep<T>, value: T): Promise<T> =>
  endStep(execution, handle as Handle<T>, value);

/** Records the outcome of a call that has returned. A promise only if there is something to wait for. */
export function endStep<T>(execution: ActiveRun, open: Handle<T>, value: T): T | Promise<T> {
  const { values, ports } = execution.deps;
  const where = { runId: execution.runId, step: open.step };
  ports.probe("C07:after-call", where);
  let encoded: Encoded;
  try {
    encoded = values.encode(open.step, value, open.place.scope.shared);
  } catch (error) {
    return failStep(execution, open, error) as Promise<never>;
  }
  if (execution.closed) return abandon(execution, open, encoded);
  const ms = Math.round(ports.clock.monotonic() - open.startedAt);
  const { usage } = open.frame;
  const meta = ms > 0 || usage ? { ...(ms > 0 ? { ms } : {}), ...(usage ? { usage } : {}) } : NOTHING;
  const event = { kind: "step_completed", step: open.step, meta, data: encoded.data } as const;
  const write = (saved?: () => void): void =>
    execution.record(event, encoded.blobs, () => {
      ports.probe("C09:after-completion", where);
      saved?.();
    });
  const saved = open.options.flush ? new Promise<void>(write) : write();
  execution.callEnded(open.frame);
  return saved instanceof Promise
    ? saved.then(() => seen(execution, open, value, encoded))
    : seen(execution, open, value, encoded);
}

/** The outcome as the code continues with it: as a replay would see it. */
function seen<T>(execution: ActiveRun, open: Handle<T>, value: T, encoded: Encoded): T {
  const echo = execution.deps.values.echo(encoded, value) as T;
  if (open.options.compensate) addCompensation(execution, open.place, open.options, undefined, echo);
  return echo;
}

const NOTHING = Object.freeze({});

/** Another worker has the run: the result is kept as evidence, and this call leads nowhere. */
function abandon<T>(execution: ActiveRun, open: Handle<T>, encoded: Encoded): Promise<never> {
  if (open.frame.effect !== "repeatable" || open.options.compensate)
    execution.deps.engine.evidence(
      execution.runId,
      execution.state.firstKey(open.step),
      open.attempt,
      encoded,
    );
  return never();
}

export async function failStep<T>(
  execution: ActiveRun,
  handle: OpenStep<T>,
  thrown: unknown,
): Promise<StepHandle<T>> {
  const open = handle as Handle<T>;
  if (execution.closed) return never();
  const { values, time } = execution.deps;
  const record = execution.state.find(open.step);
  if (record && isToldToStop(execution, record) && !provesNotDone(thrown, record)) {
    execution.callEnded(open.frame);
    return continueUnknown(execution, open.place, open.options, record);
  }
  const next = decideRetry(execution, open, thrown, record);
  await holdLimits(execution, open.options.limit, retryAfterMs(thrown, time.now()));
  const settled = await settleThrown(execution, open, thrown, { record, isTriedAgain: next.retry });
  if (settled.handle) return settled.handle;
  addSite(thrown, open.place.site);
  const encoded = values.encodeError(open.step, tooLong(open.step, thrown, next) ?? thrown);
  const error = values.echo(encoded);
  const again = next.retry ? { retryAt: time.now() + next.delayMs, waitMs: next.delayMs } : undefined;
  const meta = {
    attempt: open.attempt,
    ...again,
    ...(!next.retry && next.askedMs ? { notBefore: time.now() + next.askedMs } : {}),
    ...(open.frame.usage ? { usage: open.frame.usage } : {}),
    ...(settled.isHarmless ? { harmless: true as const } : {}),
  };
  const written = new Promise<void>((resolve) => {
    execution.record({ kind: "step_failed", step: open.step, meta, data: encoded.data }, encoded.blobs, () =>
      resolve(),
    );
  });
  execution.callEnded(open.frame);
  if (again === undefined) {
    execution.blamed.put(error, [open.step, ...execution.blamed.of(thrown)]);
    throw error;
  }
  await written;
  execution.deps.ports.probe("C11:backoff", { runId: execution.runId, step: open.step });
  await waitForRetry(execution, open.place);
  return (await startStep(
    execution,
    open.place,
    open.options,
    execution.state.find(open.step),
  )) as OpenStep<T>;
}

/**
 * The outcome of a call that threw: it was in doubt and resolved, or it is a failure, with or without proof that
 * nothing was done.
 */
async function settleThrown<T>(
  execution: ActiveRun,
  open: Handle<T>,
  thrown: unknown,
  { record, isTriedAgain }: { readonly record: StepRecord | undefined; readonly isTriedAgain: boolean },
): Promise<{ readonly handle?: StepHandle<T>; readonly isHarmless?: boolean }> {
  const { place, options, frame } = open;
  const doubt = keyDoubt(execution, place, options, thrown, isTriedAgain);
  if (doubt) return { handle: await leaveInDoubt(execution, open, doubt) };
  if (!record || frame.effect === "repeatable") return {};
  if (provesNotDone(thrown, record)) return { isHarmless: true };
  if (!isUnknown(open, thrown, isTriedAgain)) return {};
  const verdict = await askVerify(execution, place, options, record);
  if (execution.closed) return never();
  if (verdict.status === "done")
    return { handle: { done: true, value: await completeStep(execution, open, verdict.value) } };
  const doubted = thrownDoubt(execution, open.step, thrown);
  // A call that is still running may act after the hook has looked.
  if (verdict.status === "not-done" && doubted.ended) return { isHarmless: true };
  return { handle: await leaveInDoubt(execution, open, doubted) };
}

/**
 * True when an error without proof leaves the outcome unknown: always for a `once` call, and for a `keyed` one when it
 * isn't repeated under its key. An aborted call, or a fatal error, has failed: a resume finds out.
 */
const isUnknown = <T>({ frame, place }: Handle<T>, thrown: unknown, isTriedAgain: boolean): boolean =>
  !(frame.effect === "keyed" && isTriedAgain) && !place.scope.abort.aborted && !isFatal(thrown);

/**
 * The run is being cancelled and its calls were aborted, which may be why this one failed, so its failure says nothing.
 */
const isToldToStop = (execution: ActiveRun, { effect, undo }: StepRecord): boolean =>
  isCancelling(execution) && (effect !== "repeatable" || undo === true);

/** The call has ended with an unknown effect. */
async function leaveInDoubt<T>(
  execution: ActiveRun,
  { frame, place, options, step }: Handle<T>,
  doubt: Doubt,
): Promise<StepHandle<T>> {
  execution.callEnded(frame);
  await enterDoubt(execution, place, execution.state.find(step) as StepRecord, doubt);
  return continueStep(execution, place, options, execution.state.find(step) as StepRecord);
}

/** Waits until the next attempt is due, or a person says to try now. */
async function waitForRetry(execution: ActiveRun, { key, scope }: StepPlace): Promise<void> {
  const { time } = execution.deps;
  for (;;) {
    const { retryAt, notBefore } = execution.state.find(key) ?? {};
    const until = retryAt ?? notBefore ?? 0;
    if (time.now() >= until) return;
    await execution.wait(key, { kind: "retry", step: key, since: time.now(), until }, scope.frame);
  }
}

function addCompensation<T>(
  execution: ActiveRun,
  place: StepPlace,
  options: StepOptions<T>,
  record: StepRecord | undefined,
  value: T,
): void {
  const { compensate } = options;
  if (!compensate || execution.compensating) return;
  const { undo, timeoutMs, verify } = undoOptions(compensate);
  const { keyWindowMs } = options;
  const limit = timeoutMs ?? options.timeoutMs;
  const how: StepOptions = {
    effect: record?.effect ?? options.effect ?? "repeatable",
    ...(limit === undefined ? {} : { timeoutMs: limit }),
    ...(keyWindowMs === undefined ? {} : { keyWindowMs }),
    ...(verify ? { verify: (call) => verify(value, call) } : {}),
  };
  execution.undos.set(place.key, async (scope) => {
    const key = undoKey(place.key);
    const at: StepPlace = { scope, name: key.slice(scope.prefix.length), key };
    await runStep(execution, at, (call) => undo(value, call), how);
  });
}

const undoOptions = <T>(compensate: Undo<T> | UndoOptions<T>): UndoOptions<T> =>
  typeof compensate === "function" ? { undo: compensate } : compensate;
