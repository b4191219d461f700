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
