import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  scheduleActivity,
  sleep,
  TimeoutFailure,
} from "@temporalio/workflow";
import { type Carrier, createCarrier } from "../../../core/carrier.ts";
import type { Context, EachOptions, StepCall, StepOptions, Workflow } from "../../../core/context.ts";
import { HoldfastError } from "../../../core/errors.ts";
import type { Remote } from "../../../core/interpretation.ts";
import type { Effect } from "../../../core/types.ts";
import { decode, encode } from "../../../core/values/codec.ts";
import { ACTIVITY, type CallMessage, type InterpreterSettings, NO_CODE, THROWN } from "./contract.ts";

/** The step in which a call is made. */
interface Place {
  readonly call: StepCall;
  readonly effect: Effect;
  readonly keyWindowMs: number | undefined;
}

/** Calls out of the sandbox: each is an activity, and the effect class of its step says what a lost worker means. */
export class Calls {
  readonly #where: Carrier<Place> = createCarrier<Place>();
  readonly #workflow: { readonly name: string; readonly version: string };
  readonly #runId: string;
  readonly #settings: InterpreterSettings;

  constructor(
    workflow: { readonly name: string; readonly version: string },
    runId: string,
    settings: InterpreterSettings,
  ) {
    this.#workflow = workflow;
    this.#runId = runId;
    this.#settings = settings;
  }

  readonly remote: Remote = async <T>(name: string, args: unknown): Promise<T> => {
    const place = this.#where.get();
    const { name: workflow, version } = this.#workflow;
    const { step = "", attempt = 1, epoch = 1, key = "" } = place?.call ?? {};
    const effect = place?.effect ?? "repeatable";
    const call = { runId: this.#runId, step, attempt, epoch, key, effect };
    const message: CallMessage = { workflow, version, name, args, call };
    const text = encode(message);
    for (let tries = 0; ; tries++) {
      try {
        return decode(await this.#ask(name, text, place)) as T;
      } catch (error) {
        if (!isUnbegun(error)) throw thrown(error);
        // Some worker will have the code; nothing was called.
        await sleep(Math.min(1_000 * 2 ** tries, 30_000));
      }
    }
  };

  async #ask(name: string, text: string, place: Place | undefined): Promise<string> {
    const scope = new CancellationScope();
    const signal = place?.call.signal;
    const abort = (): void => scope.cancel();
    signal?.addEventListener("abort", abort);
    try {
      return await scope.run(() =>
        scheduleActivity<string>(ACTIVITY + name, [text], this.#options(name, place)),
      );
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  #options(name: string, place: Place | undefined): object {
    const { heartbeatMs, callMs } = this.#settings;
    const { effect = "repeatable", keyWindowMs = DAY_MS } = place ?? {};
    return {
      startToCloseTimeout: callMs,
      heartbeatTimeout: heartbeatMs,
      summary: place?.call.step ?? name,
      // After its window a key may be forgotten, and then a repeated call would count twice.
      ...(effect === "keyed" ? { scheduleToCloseTimeout: keyWindowMs * WINDOW_MARGIN } : {}),
      // What a function throws fails the activity for good, so only lost workers lead to another attempt.
      retry:
        effect === "once"
          ? { maximumAttempts: 1 }
          : { initialInterval: 100, backoffCoefficient: 2, maximumInterval: 10_000 },
    };
  }

  /** The workflow with a context that knows in which step a call is made. */
  within(workflow: Workflow<never, unknown>): Workflow<never, unknown> {
    return { ...workflow, body: (ctx, input) => workflow.body(this.#placing(ctx), input) };
  }

  #placing(ctx: Context): Context {
    const placed =
      <A extends unknown[]>(
        work: (...args: A) => unknown,
        options: EachOptions | StepOptions<never> | undefined,
      ) =>
      (...args: A): unknown => {
        const { effect = "repeatable", keyWindowMs } = options ?? {};
        return this.#where.run({ call: args.at(-1) as StepCall, effect, keyWindowMs }, () => work(...args));
      };
    const own: Partial<Record<string | symbol, unknown>> = {
      step: (name: string, work: (call: StepCall) => unknown, options?: StepOptions<never>) =>
        ctx.step(name, placed(work, options) as never, placedHooks(options, placed)),
      each: (name: string, items: readonly unknown[], work: () => unknown, options?: EachOptions) =>
        ctx.each(name, items, placed(work, options) as never, options as never),
      all: (name: string, branches: Readonly<Record<string, () => unknown>>, options?: EachOptions) =>
        ctx.all(name, mapped(branches, (work) => placed(work, options)) as never, options as never),
    };
    return new Proxy(ctx, {
      get(target, name) {
        if (Object.hasOwn(own, name)) return own[name];
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }
}

type Placed = <A extends unknown[]>(
  work: (...args: A) => unknown,
  options: StepOptions<never> | undefined,
) => (...args: A) => unknown;

/** A look at the outside world may always be repeated; an undo has the effect of its step. */
function placedHooks(
  options: StepOptions<never> | undefined,
  placed: Placed,
): StepOptions<never> | undefined {
  if (!options) return undefined;
  const { verify, simulate, compensate } = options;
  const undo = typeof compensate === "object" ? compensate : compensate && { undo: compensate };
  return {
    ...options,
    ...(verify ? { verify: placed(verify, {}) as typeof verify } : {}),
    ...(simulate ? { simulate: placed(simulate, {}) as typeof simulate } : {}),
    ...(undo
      ? {
          compensate: {
            ...undo,
            undo: placed(undo.undo, options),
            ...(undo.verify ? { verify: placed(undo.verify, {}) as typeof undo.verify } : {}),
          },
        }
      : {}),
  };
}

const mapped = <T, R>(given: Readonly<Record<string, T>> | readonly T[], change: (one: T) => R): unknown =>
  Array.isArray(given)
    ? given.map((one: T) => change(one))
    : Object.fromEntries(
        Object.entries(given as Readonly<Record<string, T>>).map(([key, one]) => [key, change(one)]),
      );

const DAY_MS = 86_400_000;
/** A key may be forgotten slightly before its declared time. */
const WINDOW_MARGIN = 0.9;

const causeOf = (error: unknown): unknown => (error instanceof ActivityFailure ? error.cause : error);

function isUnbegun(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof ApplicationFailure && cause.type === NO_CODE;
}

/** The error as the step sees it: the function's own, or that nobody knows what came of the call. */
function thrown(error: unknown): unknown {
  const cause = causeOf(error);
  if (cause instanceof ApplicationFailure && cause.type === THROWN) return decode(String(cause.details?.[0]));
  if (cause instanceof TimeoutFailure) {
    const message = `its worker was lost (${cause.timeoutType})`;
    return new HoldfastError("HF-2140", { message }, { cause: new Error(cause.message) });
  }
  if (cause instanceof CancelledFailure)
    return Object.assign(new Error("The call was told to stop."), { name: "AbortError" });
  return cause;
}
