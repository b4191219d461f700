import { badOption } from "../../check-options.ts";
import { checkId } from "../../ids.ts";
import { readRun } from "../../journal/door.ts";
import { RunState } from "../../journal/state.ts";
import { isKeyAway, isUnreadable } from "../../journal/unreadable.ts";
import type { Store } from "../../store/contract.ts";
import { ended, type Run, type RunRow } from "../../types.ts";
import { measure, type Progress, rowProgress } from "../checkpoints/progress.ts";
import { type ReadTo, readOn } from "./stories.ts";

/** How far a run is, at which position. */
export interface RunProgress extends Progress {
  readonly run: string;
  readonly seq: number;
}

/** The most runs of one question. */
const MOST_RUNS = 100;
/** The most positions that one question reads; runs beyond that are told from their rows. */
const MOST_READ = 30_000;
/** The most positions whose sum is remembered. */
const MOST_KEPT = 100_000;

interface Known {
  readonly seq: number;
  /** The head of the run's row then: as long as it is the same, nothing has happened. */
  readonly head: string;
  readonly end: ReadTo | undefined;
  /** The sum of the heads up to there; nothing of an ended run is needed any more. */
  readonly state: RunState | null;
  readonly progress: Progress;
}

/**
 * How far runs are: done of how much, as their plans say. A row has no plan, so the heads of the journals are read, once:
 * what was read before is remembered, and only what came after it is read.
 */
export class ProgressReader {
  readonly #store: Store;
  readonly #known = new Map<string, Known>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Runs that are missing, or for which `where` returns false, are left out. */
  async of(
    runIds: readonly string[],
    where: (run: Run) => boolean = () => true,
  ): Promise<readonly RunProgress[]> {
    if (!Array.isArray(runIds) || runIds.length > MOST_RUNS)
      throw badOption("runs", `it must be a list of at most ${MOST_RUNS} ids`);
    for (const id of runIds) checkId(id);
    // One at a time: the sums are shared.
    const turn = this.#turn.then(() => this.#all(new Set(runIds), where));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #all(runIds: ReadonlySet<string>, where: (run: Run) => boolean): Promise<readonly RunProgress[]> {
    const found: RunProgress[] = [];
    let left = MOST_READ;
    for (const id of runIds) {
      const row = await readRun(this.#store, id);
      if (!row || !where(row)) continue;
      const before = this.#before(row);
      const unread = row.seq - (before?.seq ?? 0);
      const isRead = unread <= left && row.damage === undefined;
      left -= isRead ? unread : 0;
      const progress = isRead ? await this.#read(row, before) : rowProgress(row);
      found.push({ run: row.id, seq: row.seq, ...progress });
    }
    return found;
  }

  #before({ id, seq, head }: RunRow): Known | undefined {
    const known = this.#known.get(id);
    if (known?.head === head) return known;
    // A store that is behind shows less than what was read.
    return known?.state && known.seq < seq ? known : undefined;
  }

  async #read(row: RunRow, before: Known | undefined): Promise<Progress> {
    if (before?.head === row.head) return before.progress;
    try {
      const again = before?.state && (await this.#readOn(row, before.state, before.end));
      const known = again ?? (await this.#readOn(row, new RunState(), undefined));
      if (known) this.#keep(row, known);
      return known?.progress ?? rowProgress(row);
    } catch (error) {
      this.#known.delete(row.id);
      if (isUnreadable(error) || isKeyAway(error)) return rowProgress(row);
      throw error;
    }
  }

  async #readOn(row: RunRow, state: RunState, before: ReadTo | undefined): Promise<Known | undefined> {
    const end = await readOn(this.#store, row, before, (event) => state.apply(event));
    if (!end) return undefined;
    const { progress } = measure(state, row.stepsDone, row.status);
    const { seq, head, status } = row;
    return { seq, head, end, state: ended(status) ? null : state, progress };
  }

  #keep({ id }: RunRow, known: Known): void {
    this.#known.delete(id);
    this.#known.set(id, known);
    let kept = 0;
    for (const [one, { seq, state }] of [...this.#known].reverse()) {
      kept += state ? seq : 10;
      if (kept > MOST_KEPT) this.#known.delete(one);
    }
  }
}
