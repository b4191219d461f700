import type { Engine } from "../core/engine/engine.ts";
import { HoldfastError } from "../core/errors.ts";
import type { OutsideThread, ThreadEvent } from "../core/manage/outside/outside-thread.ts";
import { openDraft } from "../core/values/patch.ts";

const ATTEMPTS = 100;
const VERSION = "1";

/**
 * A state that a framework keeps as a run of its own: each change is an iteration of one loop and saves only what
 * changed. Of two programs that change it at once, the later one reads what the other has written first. So it is
 * listed, exported, encrypted, checked and forked like every run.
 */
export class OutsideState<S extends object> {
  readonly #run: OutsideThread;
  readonly #workflow: string;
  readonly #loop: string;
  readonly #initial: S;
  /** Changes are made one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    engine: Engine,
    runId: string,
    { workflow, loop, initial, name }: { workflow: string; loop: string; initial: S; name?: string },
  ) {
    const opening = { workflow, version: VERSION, input: null, ...(name === undefined ? {} : { name }) };
    this.#run = engine.outside.thread(runId, opening);
    this.#workflow = workflow;
    this.#loop = loop;
    this.#initial = initial;
  }

  /** The state as it is now; `undefined` before the first change. */
  read(): Promise<S | undefined> {
    return this.#after(async () => ((await this.#isThere()) ? (this.#run.loop(this.#loop) as S) : undefined));
  }

  /** Changes the state in one append. Nothing is written where nothing changes. */
  change<T>(body: (draft: S) => T): Promise<T> {
    return this.#after(async () => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const isThere = await this.#isThere();
        const { draft, finish } = openDraft((isThere ? this.#run.loop(this.#loop) : this.#initial) as S);
        const result = body(draft);
        const { next, patches } = finish();
        if (isThere && patches.length === 0) return result;
        const change: ThreadEvent = this.#run.advance(this.#loop, isThere ? { patches } : { state: next });
        if (!(await this.#run.write([change]))) continue;
        await this.#run.snapshotIfDue();
        return result;
      }
      throw this.#refused("other programs write it all the time");
    });
  }

  async #isThere(): Promise<boolean> {
    const row = await this.#run.refresh();
    if (row && row.workflow !== this.#workflow)
      throw this.#refused(`run ${row.id} is of workflow ${row.workflow}`);
    return row !== null && this.#run.loop(this.#loop) !== undefined;
  }

  #refused(problem: string): HoldfastError {
    return new HoldfastError("HF-4612", { session: this.#run.runId, problem });
  }

  #after<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
