import type { OpenStep, StepCall, StepHandle, StepOptions } from "../context.ts";
import { admit } from "../guards/guard.ts";
import { hasChanged } from "../guards/subject.ts";
import type { StepStarted } from "../journal/events.ts";
import { isPlaceless } from "../values/stack.ts";
import type { ActiveRun } from "./active-run.ts";
import { admissionOf } from "./admission.ts";
import { callWork, type Handle, type StepPlace } from "./call.ts";
import { intended } from "./intended.ts";
import { refuseInside } from "./recorded.ts";
import { beginStep, begunCall, callStep, endStep, failStep, startAdmitted } from "./steps.ts";

/** Whoever asked for a step, to be told once. */
interface Asker<T> {
  readonly settle: (value: T) => void;
  readonly fail: (error: unknown) => void;
  /** Finds out who it is, for errors that don't say where they come from. */
  locate(): Promise<void>;
}

/** True for a step that the journal doesn't know, in a run that this process may go on with. */
export const isNewStep = (execution: ActiveRun, { scope, name }: StepPlace): boolean =>
  execution.isOpen && !scope.frame?.ended && !scope.node?.records.has(name);

/**
 * A new step: one reaction to its intent, in the context of the code that asked for it, and no other promise while
 * nothing unusual happens. Everything unusual is left to `steps.ts`.
 */
export class NewStep<T> {
  readonly #execution: ActiveRun;
  readonly #place: StepPlace;
  readonly #work: (call: StepCall) => T | Promise<T>;
  readonly #options: StepOptions<T>;
  readonly #asker: Asker<T>;

  constructor(
    execution: ActiveRun,
    place: StepPlace,
    work: (call: StepCall) => T | Promise<T>,
    options: StepOptions<T> | undefined,
    asker: Asker<T>,
  ) {
    this.#execution = execution;
    this.#place = place;
    this.#work = work;
    this.#options = options ?? NO_OPTIONS;
    this.#asker = asker;
  }

  /** Asks the guards and writes the intent. */
  begin(): void {
    try {
      const [execution, place, options] = [this.#execution, this.#place, this.#options];
      refuseInside(place);
      const started = intended(execution, place, options, undefined);
      execution.deps.ports.probe("C03:before-intent", { runId: execution.runId, step: place.key });
      const admission = admissionOf(execution, place, options, started);
      const answer = admit(execution.guards, admission);
      if (answer !== undefined || hasChanged(execution, options, started))
        return this.#goOn(startAdmitted(execution, options, admission, answer, undefined));
      const intent = { kind: "step_started", step: place.key, meta: started } as const;
      const begun = (isWritten: boolean): void => this.#call(started, isWritten);
      void execution.intent(intent, place.scope.frame).then(begun, this.#asker.fail);
    } catch (error) {
      this.#asker.fail(error);
    }
  }

  #call(started: StepStarted, isWritten: boolean): void {
    const [execution, place, options] = [this.#execution, this.#place, this.#options];
    if (execution.closed) return;
    if (!isWritten) return this.#goOn(beginStep(execution, place, options));
    let handle: Handle<T> | undefined;
    try {
      const open = begunCall(execution, place, options, started);
      handle = open;
      const made = callWork(execution, open, this.#work);
      if (!(made instanceof Promise)) return this.#end(open, made);
      void made.then(
        (value) => this.#end(open, value),
        (error: unknown) => this.#failed(open, error),
      );
    } catch (error) {
      if (handle) this.#failed(handle, error);
      else this.#asker.fail(error);
    }
  }

  #failed(handle: Handle<T>, error: unknown): void {
    const fail = () => failStep(this.#execution, handle, error);
    this.#goOn(isPlaceless(error) ? this.#asker.locate().then(fail) : fail());
  }

  #end(handle: Handle<T>, value: T): void {
    try {
      const ended = endStep(this.#execution, handle, value);
      if (ended instanceof Promise) void ended.then(this.#asker.settle, this.#asker.fail);
      else this.#asker.settle(ended);
    } catch (error) {
      this.#asker.fail(error);
    }
  }

  #goOn(handle: Promise<StepHandle<T> | OpenStep<T>>): void {
    const { settle, fail } = this.#asker;
    void handle.then((one) => callStep(this.#execution, one, this.#work)).then(settle, fail);
  }
}

const NO_OPTIONS = Object.freeze({});
