import { HoldfastError } from "../errors.ts";

/** The abort signals of one process's work on one run. Undo calls aren't aborted together with the others. */
export class Aborts {
  readonly #all = new AbortController();
  readonly #body = new AbortController();

  /** For the workflow's function and its calls. */
  get body(): AbortSignal {
    return this.#body.signal;
  }

  /** For calls that undo others. */
  get undo(): AbortSignal {
    return this.#all.signal;
  }

  /** Called when this process must stop working on the run. */
  stopAll(): void {
    const reason = new HoldfastError("HF-1009");
    this.#all.abort(reason);
    this.#body.abort(reason);
  }

  /** Called when the run is being cancelled: its calls are aborted, so that the undo need not wait for them. */
  stopCalls(run: string): void {
    if (!this.#body.signal.aborted)
      this.#body.abort(new HoldfastError("HF-2110", { run, reason: "What it did is being undone." }));
  }
}

/**
 * Creates a signal for work inside another's scope: aborted with the outer one, even if that was aborted before, or on
 * its own. Implemented by hand, because `AbortSignal.any` keeps a part of every inner signal for as long as the outer
 * one lives.
 */
export function innerAbort(outer: AbortSignal): {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Detaches from the outer signal. */
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
