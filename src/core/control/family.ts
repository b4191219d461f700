import { checkKeys, checkText } from "../check-options.ts";
import { HoldfastError } from "../errors.ts";
import { plan } from "../journal/act.ts";
import { rawRow } from "../journal/door.ts";
import { damaged } from "../journal/journal.ts";
import { lastEvent, loadRun } from "../journal/load.ts";
import { actOn, type EngineParts } from "../journal/parts.ts";
import { everyRun } from "../store/query.ts";
import { ended, type RunRow, type RunStatus, terminal } from "../types.ts";
import type { CancelOptions, Control } from "./control.ts";
import { ParentNews } from "./parent-news.ts";

const UNENDED: readonly RunStatus[] = ["queued", "running", "waiting", "paused", "failed"];

type Below = (child: RunRow) => Promise<unknown>;

/** Runs and the runs they started: passes on their ends, and applies acts to all of them. */
export class Family {
  readonly #deps: EngineParts;
  readonly #control: Control;
  readonly #news: ParentNews;

  constructor(deps: EngineParts, control: Control) {
    this.#deps = deps;
    this.#news = new ParentNews(deps);
    this.#control = control;
  }

  /** Tells parent and children how a run ended, then records on it that they were told. */
  async tell(run: RunRow): Promise<void> {
    const { status } = run;
    if (status === "cancelled") await this.cancelChildren(run.id, {});
    if (run.parent) await this.#tellParent(run, run.parent.runId);
    await actOn(this.#deps, run.id, (row) =>
      row.wakeAt === null || row.status !== status
        ? null
        : plan({ kind: "family_told", step: "", meta: {} }, {}),
    );
  }

  async #tellParent(child: RunRow, parentId: string): Promise<void> {
    const ending = await lastEvent(this.#deps.store, child, ["run_completed", "run_failed", "run_cancelled"]);
    if (ending?.kind !== `run_${child.status}`) throw damaged(child.id, child.seq, "Its end is missing.");
    await this.#news.tell(parentId, child, ending);
  }

  /** Cancels every child that hasn't ended, and through them theirs. May be repeated at any time. */
  async cancelChildren(runId: string, { id: _, seen: __, ...act }: CancelOptions): Promise<void> {
    for (const child of await this.children(runId)) {
      // A run that is being undone is about to be cancelled, and handles those below it.
      if (child.control === "compensating") continue;
      const told = { reason: `Run ${runId} was cancelled.`, actor: "parent", ...act };
      if (!terminal(child.status)) await asFarAsPossible(() => this.#control.cancel(child.id, told));
      else if (child.openChildren === 0) continue;
      await this.cancelChildren(child.id, act);
    }
  }

  /** Undoable work of runs below this one that can no longer be undone: a completed run isn't run again. */
  async doneBelow(runId: string): Promise<readonly string[]> {
    const { store, values } = this.#deps;
    const done: string[] = [];
    for (const child of await this.children(runId)) {
      if (child.status !== "completed") continue;
      const { undoable } = await loadRun(store, values, child);
      done.push(...[...undoable.keys()].map((step) => `${step} of run ${child.id}`));
      done.push(...(await this.doneBelow(child.id)));
    }
    return done;
  }

  /**
   * Keeps a run from continuing if its parent was stopped while the run was being created. Returns whether it may
   * continue.
   */
  async follows(run: RunRow): Promise<boolean> {
    if (run.parent === null || run.control === "compensating") return true;
    // An unreadable parent says nothing about the runs below it.
    const parent = await rawRow(this.#deps.store, run.parent.runId);
    if (parent?.damage !== undefined) return true;
    if (parent?.status === "cancelled") {
      await this.cancelChildren(parent.id, {});
      return false;
    }
    if (!parent || !isStopped(parent)) return true;
    const { store } = this.#deps;
    const asked = await lastEvent(store, parent, ["pause_requested"]);
    if (asked?.kind !== "pause_requested" || !asked.meta.children) return true;
    // A separate pause or resume of this run takes precedence.
    if (await lastEvent(store, run, ["pause_requested", "run_resumed"])) return true;
    const { actor = "parent", meta } = asked;
    const { reason = `Run ${parent.id} was paused.` } = meta;
    await asFarAsPossible(() => this.#control.pause(run.id, { actor, reason, children: true }));
    return true;
  }

  /**
   * Applies `act` to this run and to every run below it. If the run itself is in the wrong state but a run below it
   * isn't, the act counts as done; the run's own error is thrown only when there was none.
   */
  async withChildren<T>(
    runId: string,
    act: (runId: string) => Promise<T>,
    below: Below,
  ): Promise<T | RunRow> {
    // The parent comes first: after that it starts no more children.
    const own = await act(runId).catch((error: unknown) => {
      if (HoldfastError.is(error, "HF-1007")) return error;
      throw error;
    });
    const count = await this.below(runId, below);
    if (HoldfastError.is(own) && count === 0) throw own;
    if (!HoldfastError.is(own)) return own;
    const row = await this.#deps.store.read(runId);
    if (!row) throw new HoldfastError("HF-1001", { run: runId });
    return row;
  }

  /**
   * Applies `act` to every run below this one; returns how many. A run that has ended, or that the act doesn't apply
   * to, is skipped.
   */
  async below(runId: string, act: Below): Promise<number> {
    let count = 0;
    for (const child of await this.children(runId)) {
      if (!ended(child.status) && (await asFarAsPossible(() => act(child)))) count++;
      count += await this.below(child.id, act);
    }
    return count;
  }

  children(runId: string): Promise<RunRow[]> {
    return this.#list({ parent: runId });
  }

  /** Applies `act` to all selected runs of a workflow, and reports on each. */
  async all(
    query: OfWorkflow,
    act: (runId: string) => Promise<unknown>,
    meant: Meant = {},
  ): Promise<BulkReport> {
    checkKeys(query, ["workflow"]);
    // Without a workflow it would be every run.
    const workflow = checkText("workflow", query.workflow, 1);
    const done: string[] = [];
    const refused: { runId: string; error: HoldfastError }[] = [];
    const { status = UNENDED, only = () => true } = meant;
    for (const { id } of (await this.#list({ workflow, status })).filter(only)) {
      try {
        await act(id);
        done.push(id);
      } catch (error) {
        if (!HoldfastError.is(error)) throw error;
        refused.push({ runId: id, error });
      }
    }
    return { done, refused };
  }

  /** Read completely before acting, because acts move runs from one status to another. */
  async #list(query: {
    parent?: string;
    workflow?: string;
    status?: readonly RunStatus[];
  }): Promise<RunRow[]> {
    const found: RunRow[] = [];
    for await (const row of everyRun(this.#deps.store, query)) found.push(row);
    return found;
  }
}

export interface OfWorkflow {
  readonly workflow: string;
}

/** True when a run is paused, or is finishing its calls before pausing. */
export const isStopped = ({ status, control }: RunRow): boolean =>
  status === "paused" || control === "pausing";

/** Selects the runs of a workflow: by status, then by `only`. */
export interface Meant {
  readonly status?: readonly RunStatus[];
  readonly only?: (row: RunRow) => boolean;
}

/** The outcome for each run of a workflow. */
export interface BulkReport {
  readonly done: readonly string[];
  readonly refused: readonly { readonly runId: string; readonly error: HoldfastError }[];
}

/**
 * A run below that has ended in the meantime, or needs its own limit raised, doesn't undo the act above. Returns
 * whether the act was done.
 */
async function asFarAsPossible(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (!HoldfastError.is(error, "HF-1007") && !HoldfastError.is(error, "HF-1025")) throw error;
    return false;
  }
}
