import { HoldfastError } from "../errors.ts";

/** The abort signals of one process's work on one run. Calls that undo others are not told to stop when the others are. */
export class Aborts {
  readonly #all = new AbortController();
  readonly #body = new AbortController();

  /** For the workflow's function and what it calls. */
  get body(): AbortSignal {
    return this.#body.signal;
  }

  /** For calls that undo others. */
  get undo(): AbortSignal {
    return this.#all.signal;
  }

  /** This process must stop working on the run. */
  stopAll(): void {
    const reason = new HoldfastError("HF-1009");
    this.#all.abort(reason);
    this.#body.abort(reason);
  }

  /** The run is being cancelled: its calls are told, so that undoing what it did need not wait for them. */
  stopCalls(run: string): void {
    if (!this.#body.signal.aborted)
      this.#body.abort(new HoldfastError("HF-2110", { run, reason: "What it did is being undone." }));
  }
}

/**
 * A signal of its own for what happens inside another's scope: raised with the outer one, also when that was raised before, or by itself.
 * By hand, because `AbortSignal.any` keeps something of every inner signal for as long as the outer one lives.
 */
export function innerAbort(outer: AbortSignal): {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Lets go of the outer signal. */
  end(): void;
} {
  const controller = new AbortController();
  const stop = (): void => controller.abort(outer.reason);
  if (outer.aborted) stop();
  else outer.addEventListener("abort", stop, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    end: () => outer.removeEventListener("abort", stop),
  };
}
