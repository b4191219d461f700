import type { StepHandle } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { toError } from "../journal/values.ts";
import { listed } from "../listed.ts";
import { addSite, type CallSite } from "../values/stack.ts";
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

/** A promise that knows whether it is awaited: `await`, `then`, and combined promises all come here. */
class Answer<T> extends Promise<T> {
  heard: (() => void) | undefined;

  /** Promises derived from it are ordinary ones. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** Handles its failure for the run: a failure that nobody awaits belongs to the run and must not end the process. */
  keep(): void {
    super.then(undefined, () => undefined);
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise, and is meant to be awaited
  override then<A = T, B = never>(
    onDone?: ((value: T) => A | PromiseLike<A>) | null,
    onFailed?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.heard?.();
    return super.then(onDone, onFailed);
  }
}

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
  const one: Unheard = { key, enough };
  const open = unheardIn(scope).add(one);
  const forget = () => void open.delete(one);
  const answer = new Answer<T>((resolve, reject) => {
    const settled = (value: T): void => {
      forget();
      resolve(value);
    };
    const failed = (error: unknown): void => {
      addSite(error, site);
      one.failure = { error };
      answer.keep();
      reject(error);
    };
    work.then(settled, failed);
  });
  answer.heard = forget;
  if (enough !== work) enough.then(forget, forget);
  return answer;
}

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
