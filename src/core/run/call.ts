import type { OpenStep, StepCall, StepOptions } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import type { EventDraft, StepStarted } from "../journal/events.ts";
import type { Observer } from "../journal/observer.ts";
import type { CallSite } from "../values/stack.ts";
import { innerAbort } from "./aborts.ts";
import type { ActiveRun } from "./active-run.ts";
import { hasLeft, untilDone } from "./asked.ts";
import { type Address, type Frame, innerScope, type Scope } from "./scope.ts";
import { settleStreams } from "./streams.ts";

/** Calls of user code: their arguments and their time limit. */
export interface StepPlace extends Address {
  readonly scope: Scope;
  /** The code that called it. Missing for steps that have finished, and for those that the engine makes. */
  readonly site?: CallSite | undefined;
}

/** The right to act, with everything needed to end the call. */
export class Handle<T> implements OpenStep<T> {
  readonly done = false;
  readonly runId: string;
  readonly step: string;
  readonly attempt: number;
  readonly epoch: number;
  readonly options: StepOptions<T>;
  readonly place: StepPlace;
  readonly startedAt: number;
  readonly frame: Frame;
  signal: AbortSignal;
  readonly #execution: ActiveRun;
  readonly #call: number;

  constructor(execution: ActiveRun, place: StepPlace, options: StepOptions<T>, started: StepStarted) {
    this.#execution = execution;
    this.#call = started.call;
    this.runId = execution.runId;
    this.step = place.key;
    this.attempt = started.attempt;
    this.epoch = execution.writer.row.claim.epoch;
    this.options = options;
    this.place = place;
    this.signal = place.scope.abort;
    this.startedAt = execution.deps.ports.clock.monotonic();
    this.frame = {
      key: place.key,
      effect: started.effect,
      attempt: started.attempt,
      outer: place.scope.frame,
      usage: undefined,
      waits: 0,
      ended: false,
    };
  }

  get key(): string {
    return this.#execution.idempotencyKey(this.step, this.#call);
  }
}

/** True for the intent of a call that can be repeated safely, and that needs no undo. */
export const mayRepeat = ({ kind, meta }: EventDraft): boolean =>
  kind === "step_started" && meta.type === "call" && meta.effect === "repeatable" && !meta.undo;

/** Calls the function in its own scope, until it ends or its time is up. A promise only if there is a wait. */
export function callWork<T>(
  execution: ActiveRun,
  handle: Handle<T>,
  work: (call: StepCall) => T | Promise<T>,
): T | Promise<T> {
  const { options, place, frame } = handle;
  const { timeoutMs } = options;
  if (timeoutMs !== undefined) return inTime(execution, handle, work, timeoutMs);
  return whole(execution, innerScope(place.scope, place.name, { frame }), handle, work);
}

async function inTime<T>(
  execution: ActiveRun,
  handle: Handle<T>,
  work: (call: StepCall) => T | Promise<T>,
  timeoutMs: number,
): Promise<T> {
  const { scope, name } = handle.place;
  const abort = innerAbort(scope.abort);
  handle.signal = abort.signal;
  const inner = innerScope(scope, name, { frame: handle.frame, abort: abort.signal });
  let cancel = (): void => undefined;
  const limit = new Promise<never>((_, reject) => {
    cancel = execution.deps.ports.clock.setTimer(() => {
      const error = new HoldfastError("HF-2102", { step: handle.step, timeoutMs });
      abort.abort(error);
      reject(error);
    }, timeoutMs);
  });
  try {
    return await Promise.race([whole(execution, inner, handle, work), limit]);
  } finally {
    cancel();
    abort.end();
  }
}

/** The function with everything that it has requested. */
function whole<T>(
  execution: ActiveRun,
  scope: Scope,
  handle: Handle<T>,
  work: (call: StepCall) => T | Promise<T>,
): T | Promise<T> {
  const { observer } = execution.deps;
  const call = observer?.call ? () => observed(execution, handle, observer, work) : () => work(handle);
  const value = execution.within(scope, call);
  if (isThenable(value) || hasLeft(execution, scope)) return wholeLater(execution, scope, value);
  return value;
}

async function wholeLater<T>(execution: ActiveRun, scope: Scope, value: T | Promise<T>): Promise<T> {
  const done = await value;
  const settling = settleStreams(execution, scope.frame);
  if (settling) await settling;
  if (hasLeft(execution, scope)) await untilDone(execution, scope);
  return done;
}

const isThenable = (value: unknown): boolean =>
  (typeof value === "object" || typeof value === "function") && value !== null && "then" in value;

/** Calls the function in the observer's context. */
function observed<T>(
  execution: ActiveRun,
  handle: Handle<T>,
  observer: Observer,
  work: (call: StepCall) => T | Promise<T>,
): T | Promise<T> {
  const { step, attempt } = handle;
  const call = { run: execution.writer.row, trace: execution.state.facts.trace, step, attempt };
  return observer.call?.(call, () => work(handle)) as T | Promise<T>;
}
