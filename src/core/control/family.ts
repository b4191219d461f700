import { HoldfastError } from "../errors.ts";
import { type Act, plan } from "../journal/act.ts";
import type { Decide } from "../journal/acts.ts";
import { lastEvent, loadRun } from "../journal/load.ts";
import { everyRun } from "../journal/query.ts";
import type { EngineParts } from "../parts.ts";
import type { StepRecord } from "../run/replay.ts";
import { ended, type RunRow, type RunStatus, terminal, type Usage } from "../types.ts";
import type { Control } from "./control.ts";

const UNENDED: readonly RunStatus[] = ["queued", "running", "waiting", "paused", "failed"];

/** Runs and the runs they started: who is told when one of them ends, and acts that reach all of them. */
export class Family {
  readonly #deps: EngineParts;
  readonly #control: Control;

  constructor(deps: EngineParts, control: Control) {
    this.#deps = deps;
    this.#control = control;
  }

  async #act(runId: string, decide: Decide): Promise<void> {
    const { row, events } = await this.#deps.acts.act(runId, decide);
    if (events.length > 0) this.#deps.written(row, events);
  }

  /** Tells parent and children how a run ended, then notes on it that they were told. */
  async tell(run: RunRow): Promise<void> {
    const { status } = run;
    if (status === "cancelled") await this.cancelChildren(run.id, {});
    if (run.parent) await this.#tellParent(run, run.parent.runId);
    await this.#act(run.id, (row) =>
      row.wakeAt === null || row.status !== status
        ? null
        : plan({ kind: "family_told", step: "", meta: {} }, {}),
    );
  }

  async #tellParent(child: RunRow, parentId: string): Promise<void> {
    const { store, values } = this.#deps;
    const { status } = child;
    if (!(await store.read(parentId))) return;
    const ending = await lastEvent(store, child, ["run_completed", "run_failed", "run_cancelled"]);
    await this.#act(parentId, async (row) => {
      if (terminal(row.status)) return null;
      const state = await loadRun(store, values, row);
      // By its id: migrations may have renamed the step, there and back, before and after the child was made.
      const isOpen = ([, one]: [string, StepRecord]): boolean =>
        one.child === child.id && one.status === "started";
      const [step, record] = [...state.steps()].find(isOpen) ?? [];
      if (step === undefined || !record) return null;
      const message = child.error ?? "It was cancelled.";
      // Encoded anew: blobs belong to one run.
      const value =
        status === "completed"
          ? ending && (await values.of(child.id, ending))
          : new HoldfastError("HF-2107", { child: child.id, status, message });
      const encoded = values.encode(step, value);
      const usage = usedSince(child.usage, record.reported);
      const meta = { child: child.id, status, ...(usage ? { usage } : {}) };
      return plan({ kind: "child_finished", step, meta, data: encoded.data }, {}, undefined, encoded);
    });
  }

  /** Cancels every child that has not ended, and through them theirs. May be done again at any time. */
  async cancelChildren(runId: string, act: Act & { compensate?: boolean }): Promise<void> {
    for (const child of await this.children(runId)) {
      // One that is being undone is on its way to being cancelled.
      if (terminal(child.status) || child.control === "compensating") continue;
      const told = { reason: `Run ${runId} was cancelled.`, actor: "parent", ...act };
      await asFarAsPossible(() => this.#control.cancel(child.id, told));
      await this.cancelChildren(child.id, act);
    }
  }

  /** Whether the run that started this one has been cancelled: then it must not go on. */
  async isOrphan({ parent, control }: RunRow): Promise<boolean> {
    if (parent === null || control === "compensating") return false;
    return (await this.#deps.store.read(parent.runId))?.status === "cancelled";
  }

  /** Does `act` to every run below this one. A run that has ended meanwhile is passed over. */
  async below(runId: string, act: (runId: string) => Promise<unknown>): Promise<void> {
    for (const child of await this.children(runId)) {
      if (!ended(child.status)) await asFarAsPossible(() => act(child.id));
      await this.below(child.id, act);
    }
  }

  children(runId: string): Promise<RunRow[]> {
    return this.#list({ parent: runId });
  }

  /** Does `act` to all runs of a workflow that have one of these statuses now, and says what became of each. */
  async all(
    workflow: string,
    act: (runId: string) => Promise<unknown>,
    status: readonly RunStatus[] = UNENDED,
  ): Promise<BulkReport> {
    const done: string[] = [];
    const refused: { runId: string; error: HoldfastError }[] = [];
    for (const { id } of await this.#list({ workflow, status })) {
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

  /** Read whole before anything is done, since acts move runs from one status to another. */
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

/** What became of each run of a workflow. */
export interface BulkReport {
  readonly done: readonly string[];
  readonly refused: readonly { readonly runId: string; readonly error: HoldfastError }[];
}

/** A run below that has ended in the meantime, or has a limit of its own to be raised, does not undo what was done above it. */
async function asFarAsPossible(act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!HoldfastError.is(error, "HF-1007") && !HoldfastError.is(error, "HF-1025")) throw error;
  }
}

/** A child that failed and was resumed reports only what it has used since. */
function usedSince(total: Usage, reported: Usage | undefined): Usage | undefined {
  const tokens = total.tokens - (reported?.tokens ?? 0);
  const costUsd = total.costUsd - (reported?.costUsd ?? 0);
  return tokens > 0 || costUsd > 0 ? { tokens, costUsd } : undefined;
}
