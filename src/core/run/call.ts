import type { OpenStep, StepCall, StepOptions } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import type { EventDraft, StepStarted } from "../journal/events.ts";
import { approvalName } from "../keys.ts";
import { innerAbort } from "./aborts.ts";
import { hasLeft, untilDone } from "./asked.ts";
import type { Execution } from "./execution.ts";
import { type Address, type Frame, innerScope, type Scope } from "./scope.ts";

/** Calls of user code: what they are told, and their time limit. */
export interface StepPlace extends Address {
  readonly scope: Scope;
}

/** The right to act, with what is needed to end it. */
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
  readonly #execution: Execution;
  readonly #call: number;

  constructor(execution: Execution, place: StepPlace, options: StepOptions<T>, started: StepStarted) {
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

/** The intent of a call that does no harm when it is made again, and of which nothing must be undone. */
export const mayRepeat = ({ kind, meta }: EventDraft): boolean =>
  kind === "step_started" && meta.type === "call" && meta.effect === "repeatable" && !meta.undo;

/** Digest of the arguments a call declares. */
export const argsDigest = <T>({ deps }: Execution, { input }: StepOptions<T>): string | undefined =>
  input === undefined ? undefined : deps.values.digest(input);

/** Digest of what a call is about, where that can be told: its arguments, or the item of its group. */
export function subjectDigest({ deps }: Execution, options: Pick<StepOptions, "input">): string | undefined {
  const subject = options.input ?? itemOf(options);
  try {
    return subject === undefined ? undefined : deps.values.digest(subject);
  } catch (error) {
    // Not every item of a group can be stored; nobody can agree to what cannot be shown.
    if (options.input === undefined) return undefined;
    throw error;
  }
}

/** The item that a branch of a group is for. */
export const itemOf = (options: object): unknown => ("item" in options ? options.item : undefined);

/**
 * Whether what was admitted may still be called: its arguments, the policy and the answer it relies on are what they were. Asked with
 * the append that writes the intent, so that nothing comes between.
 */
export function stillAdmitted(
  execution: Execution,
  { scope, name }: StepPlace,
  options: Pick<StepOptions, "input">,
  { policy, approved, attempt }: Pick<StepStarted, "policy" | "approved" | "attempt">,
): () => boolean {
  const before = subjectDigest(execution, options);
  return () => {
    if (subjectDigest(execution, options) !== before) return false;
    if (policy !== undefined && execution.deps.policy?.version !== policy) return false;
    if (approved === undefined) return true;
    const answer = execution.state.find(scope.prefix + approvalName(name, attempt));
    return answer?.status === "completed" && answer.seq === approved;
  };
}

/** Whether the arguments are not those any more that somebody has agreed to. */
export const hasChanged = <T>(
  execution: Execution,
  options: StepOptions<T>,
  { args }: Pick<StepStarted, "args">,
): boolean => {
  const { deps, state } = execution;
  const isAsked = deps.policy !== undefined || state.facts.fork !== undefined;
  return isAsked && argsDigest(execution, options) !== args;
};

/** Calls the function in a scope of its own, until it ends or its time is up. */
export async function callWork<T>(
  execution: Execution,
  handle: Handle<T>,
  work: (call: StepCall) => T | Promise<T>,
): Promise<T> {
  const { timeoutMs } = handle.options;
  const { scope, name } = handle.place;
  if (timeoutMs === undefined) {
    const inner = innerScope(scope, name, { frame: handle.frame });
    return whole(execution, inner, handle, work);
  }
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

/** The function with everything that it has asked for. */
async function whole<T>(
  execution: Execution,
  scope: Scope,
  handle: Handle<T>,
  work: (call: StepCall) => T | Promise<T>,
): Promise<T> {
  const value = await execution.within(scope, () => work(handle));
  if (hasLeft(execution, scope)) await untilDone(execution, scope);
  return value;
}
