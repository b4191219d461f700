import type { Execution } from "../run/execution.ts";
import type { Worker } from "./worker.ts";

/** The place of an engine's one worker, which is opened when it is first needed. */
export class WorkerSlot {
  readonly #open: () => Promise<Worker>;
  readonly #started: (background: boolean) => void;
  #opening: Promise<Worker> | null = null;
  #worker: Worker | null = null;

  constructor(open: () => Promise<Worker>, started: (background: boolean) => void) {
    this.#open = open;
    this.#started = started;
  }

  get running(): readonly Execution[] {
    return this.#worker?.running ?? [];
  }

  /** The work on a run in this process. */
  active(runId: string): Execution | undefined {
    return this.#worker?.active(runId);
  }

  /** True while this process takes the run. */
  isTaking(runId: string): boolean {
    return this.#worker?.isTaking(runId) ?? false;
  }

  /** Opens and starts the worker; `background`: it doesn't keep the process alive. */
  async work(background: boolean): Promise<Worker> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      // A store that can't be opened now may be available later.
      this.#opening = null;
      throw error;
    });
    const worker = this.#worker ?? (await this.#opening);
    this.#worker = worker;
    worker.start(background);
    this.#started(background);
    return worker;
  }

  async stop(drainMs: number): Promise<void> {
    await (await this.#opening?.catch(() => null))?.stop(drainMs);
  }
}
