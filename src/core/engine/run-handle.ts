import type { GateAnswer } from "../context.ts";
import type { CancelOptions, PauseOptions, ResumeOptions } from "../control/control.ts";
import type { Answer, OpenGate, Resolution } from "../control/decisions.ts";
import { checkId } from "../ids.ts";
import type { NamedAct } from "../journal/act.ts";
import type { RunReport } from "../manage/status/run-status.ts";
import type { InputOf, Schemas, StandardSchema } from "../standard-schema.ts";
import type { Run } from "../types.ts";

/** What a handle asks of the engine. */
interface RunVerbs {
  result<O>(id: string): Promise<O>;
  settled(id: string): Promise<Run>;
  status(id: string): Promise<RunReport>;
  get(id: string): Promise<Run | null>;
  pause(id: string, options?: PauseOptions): Promise<Run>;
  resume(id: string, options?: ResumeOptions & { children?: boolean }): Promise<Run>;
  cancel(id: string, options?: CancelOptions): Promise<Run>;
  signal(id: string, name: string, payload?: unknown, options?: NamedAct): Promise<void>;
  gates(id: string): Promise<OpenGate[]>;
  answer(id: string, gate: string, answer: Answer): Promise<GateAnswer>;
  resolve(id: string, step: string, resolution: Resolution & NamedAct): Promise<Run>;
}

/** The payload of a message, which may be left out only where the schema allows that. */
type Message<S extends StandardSchema> =
  undefined extends InputOf<S>
    ? [payload?: InputOf<S>, options?: NamedAct]
    : [payload: InputOf<S>, options?: NamedAct];

/**
 * A run to wait for and to act on: what the engine can do with the run's id, without repeating it. `O` is the type of
 * its result. It holds nothing but the id, so it may be kept, dropped and made again with `engine.run`.
 *
 * @example
 * ```ts
 * import { createEngine, workflow } from "holdfast";
 * import { createMemoryStore } from "holdfast/stores/memory";
 *
 * const greet = workflow("greet", async (ctx, name: string) => ctx.step("say", () => `Hello ${name}`));
 *
 * const engine = createEngine({ store: createMemoryStore(), workflows: [greet] });
 * const run = await engine.start(greet, "Ada");
 * const text: string = await run.result();
 * console.log(run.id, text);
 * ```
 */
export class RunHandle<O = unknown, S extends Schemas = Schemas> {
  readonly id: string;
  readonly #engine: RunVerbs;

  constructor(engine: RunVerbs, id: string) {
    checkId(id);
    this.#engine = engine;
    this.id = id;
  }

  /** Its result, when it has completed; throws HF-2101 (failed), HF-2110 (cancelled) or HF-3010 (damaged). */
  result(): Promise<O> {
    return this.#engine.result<O>(this.id);
  }

  /** Resolves once nothing is in progress: it has ended, is paused, or waits for something. */
  settled(): Promise<Run> {
    return this.#engine.settled(this.id);
  }

  /** What it does or waits for, in one sentence, and what a person can do about it. */
  status(): Promise<RunReport> {
    return this.#engine.status(this.id);
  }

  /** Its row; `null` when it has been deleted. */
  row(): Promise<Run | null> {
    return this.#engine.get(this.id);
  }

  /** Stops it at its next step boundary. */
  pause(options?: PauseOptions): Promise<Run> {
    return this.#engine.pause(this.id, options);
  }

  /** Lets it continue when it is paused, failed or held back. */
  resume(options?: ResumeOptions & { children?: boolean }): Promise<Run> {
    return this.#engine.resume(this.id, options);
  }

  /** Ends it, and the runs it started, for good. */
  cancel(options?: CancelOptions): Promise<Run> {
    return this.#engine.cancel(this.id, options);
  }

  /** Puts a message into its mailbox. If the workflow declares its signals, name and payload have their types. */
  signal<K extends keyof S & string>(name: K, ...[payload, options]: Message<S[K]>): Promise<void> {
    return this.#engine.signal(this.id, name, payload, options);
  }

  /** The gates that it waits at. */
  gates(): Promise<OpenGate[]> {
    return this.#engine.gates(this.id);
  }

  /** Answers a gate. The first answer counts. */
  answer(gate: string, answer: Answer): Promise<GateAnswer> {
    return this.#engine.answer(this.id, gate, answer);
  }

  /** Decides about a step whose outcome is unknown. */
  resolve(step: string, resolution: Resolution & NamedAct): Promise<Run> {
    return this.#engine.resolve(this.id, step, resolution);
  }
}
