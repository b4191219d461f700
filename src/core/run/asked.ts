import type { StepHandle } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { toError } from "../journal/values.ts";
import { listed } from "../listed.ts";
import { addSite, awaitingSite, type CallSite, isPlaceless } from "../values/stack.ts";
import type { ActiveRun } from "./active-run.ts";
import type { Frame, Scope } from "./scope.ts";

/** A request of the code whose promise nobody has awaited yet. */
interface Unheard {
  readonly key: string;
  /** Must settle before the requesting function may end. */
  readonly enough: Promise<unknown>;
  failure?: { readonly error: unknown };
}

/** A call that the code itself has to end. */
interface OpenCall {
  readonly step: string;
  readonly frame: Frame;
  readonly place: { readonly scope: Scope };
}

const isCall = (handle: object): handle is OpenCall => "frame" in handle && "place" in handle;

/**
 * A promise that knows whether it is awaited. `await`, `then` and combined promises all ask for its constructor first,
 * and are told that it is an ordinary promise: so an `await` needs no promise around it, and those derived from it are
 * ordinary ones.
 */
class Answer<T> extends Promise<T> {
  heard: (() => void) | undefined;

  /** Reacts to its end without counting as somebody who awaits it. */
  quietly(reaction: () => void): void {
    const { heard } = this;
    this.heard = undefined;
    super.then(reaction, reaction);
    this.heard = heard;
  }
}

Reflect.defineProperty(Answer.prototype, "constructor", {
  get(this: Answer<unknown>) {
    this.heard?.();
    return Promise;
  },
});

const unheard = new WeakMap<Scope, Set<Unheard>>();
const handles = new WeakMap<ActiveRun, Set<OpenCall>>();

interface Asked {
  /** The code that made the request: an error without a place of its own gets this one. */
  readonly site: CallSite;
  /** The request counts as done when it has got this far; otherwise at its end. */
  readonly enough?: Promise<unknown>;
}

function unheardIn(scope: Scope): Set<Unheard> {
  const known = unheard.get(scope);
  if (known) return known;
  const open = new Set<Unheard>();
  unheard.set(scope, open);
  return open;
}

/** Records a request in `scope` until it is awaited or done. */
export function asked<T>(
  scope: Scope,
  key: string,
  work: Promise<T>,
  { site, enough = work }: Asked,
): Promise<T> {
  const request = new Request<T>(scope, key, site, enough);
  work.then(request.settle, request.fail);
  if (enough !== work) enough.then(request.forget, request.forget);
  return request.answer;
}

/**
 * A request of the code, from its call to its outcome. Without a given site, its caller is looked for only when it
 * fails: remembering the calling code of every step would be a quarter of its processor time.
 */
export class Request<T> implements Unheard {
  readonly key: string;
  readonly answer: Answer<T>;
  readonly site: CallSite;
  failure?: { readonly error: unknown };
  readonly #open: Set<Unheard>;
  readonly #enough: Promise<unknown> | undefined;
  #isLocated: boolean;
  #resolve!: (value: T | Promise<T>) => void;
  #reject!: (error: unknown) => void;

  constructor(scope: Scope, key: string, site?: CallSite, enough?: Promise<unknown>) {
    this.key = key;
    this.site = site ?? {};
    this.#isLocated = site !== undefined;
    this.#enough = enough;
    this.#open = unheardIn(scope).add(this);
    this.answer = new Answer<T>((resolve, reject) => this.#settleBy(resolve, reject));
    this.answer.heard = this.forget;
  }

  #settleBy(resolve: (value: T | Promise<T>) => void, reject: (error: unknown) => void): void {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get enough(): Promise<unknown> {
    return this.#enough ?? new Promise<void>((done) => this.answer.quietly(done));
  }

  readonly forget = (): void => void this.#open.delete(this);

  readonly settle = (value: T): void => {
    this.forget();
    this.#resolve(value);
  };

  readonly fail = (error: unknown): void => {
    if (!this.#isLocated && isPlaceless(error)) return void this.locate().then(() => this.fail(error));
    addSite(error, this.site);
    this.failure = { error };
    // Handled for the run: a failure that nobody awaits belongs to the run and must not end the process.
    this.answer.quietly(ignore);
    this.#reject(error);
  };

  /**
   * Finds the code that awaits the answer. V8 shows it to a reaction whose own promise leads there, so the answer
   * follows such a promise from here on.
   */
  locate(): Promise<void> {
    if (this.#isLocated) return Promise.resolve();
    this.#isLocated = true;
    return new Promise((located) => {
      const follow = this.#resolve;
      const outcome = new Promise<T>((resolve, reject) => this.#settleBy(resolve, reject));
      const { promise, start } = begun();
      follow(
        promise.then(() => {
          awaitingSite(this.site);
          located();
          return outcome;
        }),
      );
      // The answer begins to follow in the next microtask.
      queueMicrotask(start);
    });
  }
}

function begun(): { readonly promise: Promise<void>; readonly start: () => void } {
  let start = ignore;
  const promise = new Promise<void>((resolve) => (start = resolve));
  return { promise, start };
}

const ignore = (): void => undefined;

/**
 * Delays the end of a function until everything it requested without awaiting has its outcome. An abandoned step would
 * be dropped, or begun and never ended; an abandoned gate would stop nobody. A failure in the meantime fails the
 * function.
 */
async function untilAnswered(execution: ActiveRun, scope: Scope): Promise<void> {
  const open = unheard.get(scope);
  if (!open || open.size === 0) return;
  const { clock, logger } = execution.deps.ports;
  const { code, message } = new HoldfastError("HF-2127", { steps: keysOf(open) });
  logger.warn(message, { runId: execution.runId, code });
  while (open.size > 0) {
    await Promise.allSettled([...open].map(({ enough }) => enough));
    // Reactions to an answer may request more.
    await new Promise<void>((resolve) => clock.defer(resolve));
    const failed = [...open].filter(({ failure }) => failure !== undefined);
    if (failed.length > 0) throw notAwaited(execution, failed);
  }
}

const keysOf = (open: Iterable<{ readonly key: string }>): string => listed([...open].map(({ key }) => key));

function notAwaited({ blamed }: ActiveRun, failed: readonly Unheard[]): HoldfastError {
  const errors = failed.map(({ failure }) => failure?.error);
  const { message } = toError(errors[0]);
  const problem = new HoldfastError("HF-2290", { steps: keysOf(failed), message }, { cause: errors[0] });
  blamed.put(
    problem,
    errors.flatMap((error) => blamed.of(error)),
  );
  return problem;
}

/** Records a call that was begun by hand. */
export function opened<T>(execution: ActiveRun, handle: StepHandle<T>): StepHandle<T> {
  if (!isCall(handle)) return handle;
  const open = handles.get(execution) ?? new Set();
  for (const one of open) if (one.frame.ended) open.delete(one);
  handles.set(execution, open.add(handle));
  return handle;
}

/**
 * Called when the function has ended, so that nothing can end the calls it has begun by hand: they no longer count as
 * in progress. Returns the problem to report. Without a scope, for all of the run's.
 */
export function leaveOpen(execution: ActiveRun, scope?: Scope): HoldfastError | undefined {
  const left = [...(handles.get(execution) ?? [])].filter(
    ({ frame, place }) => !frame.ended && (scope === undefined || place.scope === scope),
  );
  if (left.length === 0) return undefined;
  for (const { frame } of left) execution.callEnded(frame);
  const steps = left.map(({ step }) => step);
  const problem = new HoldfastError("HF-2291", { steps: listed(steps) });
  execution.blamed.put(problem, steps);
  return problem;
}

/**
 * Waits for everything that a function must have done when it returns; for a run's, a step's or an iteration's
 * function.
 */
export async function untilDone(execution: ActiveRun, scope: Scope): Promise<void> {
  await untilAnswered(execution, scope);
  const problem = leaveOpen(execution, scope);
  if (problem) throw problem;
}

/** True when there is anything to wait for: most functions await everything. */
export const hasLeft = (execution: ActiveRun, scope: Scope): boolean =>
  (unheard.get(scope)?.size ?? 0) > 0 || (handles.get(execution)?.size ?? 0) > 0;
