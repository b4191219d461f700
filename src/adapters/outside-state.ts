import type { Engine } from "../core/engine/engine.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Advance } from "../core/journal/state-view.ts";
import type { OutsideThread, ThreadOpening } from "../core/manage/outside/outside-thread.ts";
import { type RunRow, terminal } from "../core/types.ts";
import { openDraft } from "../core/values/patch.ts";
import { changes } from "./diff.ts";
import { type Stand, standing } from "./standing.ts";

const ATTEMPTS = 100;
const VERSION = "1";

/** How a framework's state is kept as a run. */
export interface Keeping<S extends object> extends Partial<Pick<ThreadOpening, "name" | "labels">> {
  readonly workflow: string;
  readonly loop: string;
  readonly initial: S;
  /** What the run was created with. */
  readonly input?: unknown;
  /** Where the run stands with this state. Without it, nothing is said of that. */
  readonly stand?: (state: S) => Stand;
  /** The error for what can't be kept. */
  readonly refused?: (problem: string) => HoldfastError;
}

/**
 * A state that a framework keeps as a run of its own: each change is an iteration of one loop and saves only what
 * changed. Of two programs that change it at once, the later one reads what the other has written first. So it is
 * listed, exported, encrypted, checked and forked like every run.
 */
export class OutsideState<S extends object> {
  readonly #run: OutsideThread;
  readonly #keeping: Keeping<S>;
  /** Changes are made one after another. */
  #last: Promise<unknown> = Promise.resolve();
  /** How many appends ago the journal said where the run stands. */
  #sinceStanding = 0;

  constructor(engine: Engine, runId: string, keeping: Keeping<S>) {
    const { workflow, name, labels, input = null } = keeping;
    const tags = { ...(name === undefined ? {} : { name }), ...(labels === undefined ? {} : { labels }) };
    this.#run = engine.outside.thread(runId, { workflow, version: VERSION, input, ...tags });
    this.#keeping = keeping;
  }

  get runId(): string {
    return this.#run.runId;
  }

  /** The run as it was last read or written. */
  get row(): RunRow | null {
    return this.#run.row;
  }

  /** The state as it is now; `undefined` before the first change. */
  read(): Promise<S | undefined> {
    return this.#after(() => this.#current());
  }

  /** Changes the state in one append. Nothing is written where nothing changes. */
  change<T>(body: (draft: S) => T): Promise<T> {
    return this.#after(async () => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const before = await this.#current();
        const { draft, finish } = openDraft(before ?? this.#keeping.initial);
        const result = body(draft);
        const { next, patches } = finish();
        if (before && patches.length === 0) return result;
        if (await this.#write(before ? { patches } : { state: next }, next)) return result;
      }
      throw this.#refused("other programs write it all the time");
    });
  }

  /**
   * Puts `next` in the place of `before`, which was read here; only the difference is written. `false`: the state is
   * another one meanwhile.
   */
  replace(before: S | undefined, next: S): Promise<boolean> {
    return this.#after(async () => {
      if ((await this.#current()) !== before) return false;
      const patches = before ? changes(before, next) : [];
      if (before && patches.length === 0) return true;
      return this.#write(before ? { patches } : { state: next }, next);
    });
  }

  async #write(change: Advance, next: S): Promise<boolean> {
    const { row } = this.#run;
    if (row && terminal(row.status)) throw this.#refused(`its run ${row.id} is ${row.status}`);
    const stand = this.#keeping.stand?.(next);
    const said = stand && standing(row, stand, this.#sinceStanding, this.#run.now());
    const events = [this.#run.advance(this.#keeping.loop, change, true)];
    if (!(await this.#run.write([...(said?.before ?? []), ...events, ...(said?.after ?? [])]))) return false;
    this.#sinceStanding = said && said.after.length > 0 ? 0 : this.#sinceStanding + 1;
    await this.#run.snapshotIfDue();
    return true;
  }

  async #current(): Promise<S | undefined> {
    const row = await this.#run.refresh();
    const { workflow, loop } = this.#keeping;
    if (row && row.workflow !== workflow) throw this.#refused(`run ${row.id} is of workflow ${row.workflow}`);
    return row ? (this.#run.loop(loop) as S | undefined) : undefined;
  }

  #refused(problem: string): HoldfastError {
    const session = this.#run.runId;
    return this.#keeping.refused?.(problem) ?? new HoldfastError("HF-4612", { session, problem });
  }

  #after<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
