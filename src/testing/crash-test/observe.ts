import type { Context, OpenStep, StepCall, StepOptions, Workflow } from "../../core/context.ts";
import { defined } from "../../core/defined.ts";
import { fingerprint } from "../../core/hash.ts";
import { baseName, lastSegment, memberName, unplaced } from "../../core/keys.ts";
import { dataDigest, encode } from "../../core/values/codec.ts";
import type { CallPlace } from "../witness/log.ts";
import type { Stage } from "./effect.ts";
import type { Scene } from "./scene.ts";

type Work<T> = (call: StepCall) => T | Promise<T>;
type CallOptions = Pick<StepOptions<never>, "effect" | "retry" | "input">;

/** Longer return values aren't kept for the later decision about a step's outcome. */
const LONGEST_VALUE = 100_000;
/** Longer sleeps would show nothing more. */
const LONGEST_SLEEP_MS = 60;
const LONGEST_SIGNAL_MS = 300;
const LONGEST_RETRY = { baseMs: 20, maxMs: 50 };

/**
 * Wraps workflows so that the witness is told of every call before and after it. Sleeps and retry delays are shortened;
 * nothing else changes.
 */
export class Observer {
  /** The workflows that this process can advance. */
  readonly known = new Set<string>();
  readonly #scene: Scene;
  readonly #stage: Stage;
  readonly #signals: Readonly<Record<string, unknown>>;

  constructor(scene: Scene, stage: Stage, signals: Readonly<Record<string, unknown>>) {
    this.#scene = scene;
    this.#stage = stage;
    this.#signals = signals;
  }

  workflow<I, O>(workflow: Workflow<I, O>): Workflow<I, O> {
    this.known.add(workflow.name);
    return {
      ...workflow,
      body: (ctx, input) => {
        const open: CallPlace[] = [];
        const standing = { place: { ...NOWHERE, runId: ctx.runId }, open };
        return this.#stage.places.run(standing, () => workflow.body(this.#context(ctx, open), input));
      },
    };
  }

  #context(ctx: Context, open: CallPlace[]): Context {
    const branch = <T>(name: string, segment: string, work: () => T | Promise<T>, options: CallOptions) =>
      this.#inBranch(ctx.runId, name, segment, work, options);
    const own: Partial<Context> = {
      step: (name, work, options = {}) => ctx.step(name, this.#work(work, options), this.#options(options)),
      beginStep: async (name, options = {}) => this.#begun(await ctx.beginStep(name, options), open),
      completeStep: async (handle, value) => {
        await this.#closed(handle, open, true, value);
        return ctx.completeStep(handle, value);
      },
      failStep: async (handle, error) => {
        await this.#closed(handle, open, false);
        return this.#begun(await ctx.failStep(handle, error), open);
      },
      each: ((name: string, items: readonly unknown[], work: EachWork, options: CallOptions = {}) =>
        ctx.each(
          name,
          items,
          (item, index) => branch(name, String(index), () => work(item, index), options),
          quick(options),
        )) as Context["each"],
      all: ((name: string, branches: Record<string, () => unknown>, options: CallOptions = {}) => {
        const observed = Object.entries(branches).map(
          ([segment, work]) => [segment, () => branch(name, segment, work, options)] as const,
        );
        const list = Array.isArray(branches)
          ? observed.map(([, work]) => work)
          : Object.fromEntries(observed);
        return ctx.all(name, list, quick(options));
      }) as Context["all"],
      child: (name, workflow, input) => ctx.child(name, this.workflow(workflow), input),
      sleep: (name, ms) => ctx.sleep(name, Math.min(ms, LONGEST_SLEEP_MS)),
      signal: (name, options = {}) => ctx.signal(name, this.#signalOptions(name, options)),
    };
    return new Proxy(ctx, {
      get(target, key) {
        if (Object.hasOwn(own, key)) return own[key as keyof Context];
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  /** A signal that nobody will send times out as usual, only sooner. */
  #signalOptions(name: string, options: NonNullable<Parameters<Context["signal"]>[1]>): typeof options {
    const isSent = [name, ...(options.or ?? [])].some((one) => Object.hasOwn(this.#signals, one));
    if (isSent || options.timeoutMs === undefined) return options;
    return { ...options, timeoutMs: Math.min(options.timeoutMs, LONGEST_SIGNAL_MS) };
  }

  #options<T>(options: StepOptions<T>): StepOptions<T> {
    const { compensate } = options;
    if (!compensate) return quick(options);
    const how = typeof compensate === "function" ? { undo: compensate } : compensate;
    const undo = (value: T, call: StepCall) => this.#work((one) => how.undo(value, one), options)(call);
    return { ...quick(options), compensate: { ...how, undo } };
  }

  #work<T>(work: Work<T>, options: CallOptions): Work<T> {
    return (call) => this.#called(placeOf(call, options), () => work(call));
  }

  /** Branches don't receive their call, so it is looked up in the engine's announcements. */
  #inBranch<T>(
    runId: string,
    name: string,
    segment: string,
    work: () => T | Promise<T>,
    options: CallOptions,
  ): T | Promise<T> {
    const step = this.#scene.announced(runId, (key) => isBranch(key, name, segment));
    const intent = step === undefined ? undefined : this.#scene.intent(runId, step);
    if (step === undefined || !intent) return work();
    const { attempt, epoch, key = "", args = "" } = intent;
    const effect = options.effect ?? "repeatable";
    return this.#called({ runId, step, effect, attempt, epoch, key, args }, work);
  }

  async #called<T>(place: CallPlace, work: () => T | Promise<T>): Promise<T> {
    // Announced like all calls, although only branches look it up.
    this.#scene.announced(place.runId, (key) => key === place.step);
    const call = this.#scene.call(place.step, "before");
    await this.#stage.line.tell({ ...place, type: "begun" });
    let value: T;
    try {
      value = await this.#stage.places.run({ place }, work);
    } catch (error) {
      await this.#ended(place, false);
      throw error;
    }
    await this.#ended(place, true, value);
    this.#scene.call(place.step, "after", call);
    return value;
  }

  /** A handle that permits acting is the beginning of a call. */
  async #begun<H extends { readonly done: boolean }>(handle: H, open: CallPlace[]): Promise<H> {
    if (handle.done) return handle;
    const call = handle as unknown as OpenStep<unknown>;
    const place = placeOf(call, call.options);
    this.#scene.announced(place.runId, (key) => key === place.step);
    await this.#stage.line.tell({ ...place, type: "begun" });
    open.push(place);
    return handle;
  }

  async #closed<T>(handle: OpenStep<T>, open: CallPlace[], ok: boolean, value?: T): Promise<void> {
    const place = placeOf(handle, handle.options);
    const index = open.findIndex(({ step }) => step === place.step);
    if (index >= 0) open.splice(index, 1);
    await this.#ended(place, ok, value);
  }

  async #ended(place: CallPlace, ok: boolean, value?: unknown): Promise<void> {
    const text = ok ? storable(value) : undefined;
    const kept = defined({ value: text });
    await this.#stage.line.tell({ ...place, type: "ended", ok, ...kept });
  }
}

type EachWork = (item: unknown, index: number) => unknown;

const NOWHERE: CallPlace = {
  runId: "",
  step: "",
  effect: "repeatable",
  attempt: 0,
  epoch: 0,
  key: "",
  args: "",
};

const placeOf = (call: StepCall, { effect = "repeatable", input }: CallOptions): CallPlace => ({
  runId: call.runId,
  step: call.step,
  effect,
  attempt: call.attempt,
  epoch: call.epoch,
  key: fingerprint(call.key),
  args: input === undefined ? "" : dataDigest(input),
});

function isBranch(key: string, name: string, segment: string): boolean {
  const last = lastSegment(key);
  return last === memberName(unplaced(last), segment) && baseName(last) === name;
}

function storable(value: unknown): string | undefined {
  try {
    const text = encode(value);
    return text.length <= LONGEST_VALUE ? text : undefined;
  } catch {
    // The engine reports this itself.
    return undefined;
  }
}

/** The same attempts at shorter intervals. */
function quick<O extends CallOptions>(options: O): O {
  const { retry, effect } = options;
  if (retry === false || (retry === undefined && effect === "once")) return options;
  const given = typeof retry === "number" ? { attempts: retry } : (retry ?? {});
  const baseMs = Math.min(given.baseMs ?? LONGEST_RETRY.baseMs, LONGEST_RETRY.baseMs);
  const maxMs = Math.min(given.maxMs ?? LONGEST_RETRY.maxMs, LONGEST_RETRY.maxMs);
  return { ...options, retry: { ...given, baseMs, maxMs } };
}
