import type { Engine } from "../../core/engine/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import { digest } from "../../core/hash.ts";
import type { RunRow } from "../../core/types.ts";
import { type Keeping, OutsideState } from "../outside-state.ts";

/** How many runs are held in memory, so that their next change needs no reading. */
const HELD = 100;

export const refused = (what: string, problem: string): HoldfastError =>
  new HoldfastError("HF-4620", { what, problem });

/** A run's id that no other key leads to, with a beginning that people recognise. */
export const runIdOf = (word: string, ...key: readonly (string | number)[]): string =>
  `${word.replaceAll(/[^\w-]/g, "_").slice(0, 20)}-${digest(JSON.stringify(key))}`;

/** The runs of one kind that Mastra's data is kept in. */
export class KeptRuns<S extends object> {
  readonly engine: Engine;
  readonly workflow: string;
  readonly #held = new Map<string, OutsideState<S>>();

  constructor(engine: Engine, workflow: string) {
    this.engine = engine;
    this.workflow = workflow;
  }

  /** The state of a run. `keeping` says what the run is created with. */
  at(runId: string, keeping: Omit<Keeping<S>, "workflow" | "loop" | "refused">): OutsideState<S> {
    const { workflow } = this;
    const own = { workflow, loop: "state", refused: (problem: string) => refused(`Run ${runId}`, problem) };
    const state = this.#held.get(runId) ?? new OutsideState<S>(this.engine, runId, { ...keeping, ...own });
    this.#held.delete(runId);
    this.#held.set(runId, state);
    const [oldest] = this.#held.keys();
    if (this.#held.size > HELD && oldest !== undefined) this.#held.delete(oldest);
    return state;
  }

  /** The rows of all of them, newest first. */
  async *rows(labels: Readonly<Record<string, string>> = {}): AsyncGenerator<Pick<RunRow, "id" | "status">> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const at = cursor === undefined ? {} : { cursor };
      const page = await this.engine.list({ workflow: this.workflow, labels, limit: 500, ...at });
      yield* page.runs;
      cursor = page.cursor;
    }
  }

  /** Deletes a run with everything that belongs to it. */
  async delete(runId: string): Promise<void> {
    this.#held.delete(runId);
    const row = await this.engine.get(runId);
    if (!row) return;
    await this.engine.outside.complete(runId, { archive: false });
    await this.engine.delete(runId, { tombstone: false });
  }
}
