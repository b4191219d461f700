import { HoldfastError } from "../errors.ts";
import { checkBudget, checkRaise, differs } from "../guards/budget.ts";
import { type Act, because, plan, wrongStatus } from "../journal/act.ts";
import type { ActPlan, Decide } from "../journal/acts.ts";
import type { EventDraft } from "../journal/events.ts";
import { dropped } from "../journal/journal.ts";
import { lastEvent, loadRun } from "../journal/load.ts";
import { isBeingDropped } from "../manage/retention/journal.ts";
import type { EngineParts } from "../parts.ts";
import { checkName } from "../run/scope.ts";
import type { Blob } from "../store.ts";
import { type Budget, ended, type RunRow, terminal, type WaitKind } from "../types.ts";
import { type Edits, editEvents } from "./edits.ts";

export interface ResumeOptions extends Act {
  /** Try every failed step again, not only those the run failed on. */
  readonly retryFailed?: boolean;
  /** Other values in the place of recorded ones. */
  readonly set?: Edits;
  /** Context for the run, which finds it with `ctx.inbox()`. */
  readonly inject?: unknown;
  /** Limits to set, those that are given; a run that waits for its budget needs one that is high enough (else HF-1025). */
  readonly budget?: Budget;
  /** Stands for this resume: sent twice, it is one. */
  readonly id?: string;
}

/** The mailbox that injected context goes to. */
export const INJECT = "inject";

/** Waits that a resume ends: whatever stood in the way is looked at again. */
const RESUMABLE: readonly WaitKind[] = ["review", "budget", "policy", "content", "migration", "key"];

/** What people and other programs can do to a run. Every act is one conditional append, so races have one winner. */
export class Control {
  readonly #deps: EngineParts;

  constructor(deps: EngineParts) {
    this.#deps = deps;
  }

  async #act(runId: string, decide: Decide): Promise<RunRow> {
    const { row, events } = await this.#deps.acts.act(runId, decide);
    if (events.length > 0) this.#deps.written(row, events);
    return row;
  }

  pause(runId: string, act: Act): Promise<RunRow> {
    return this.#act(runId, (row) => {
      if (row.status === "paused" || row.control === "pausing") return null;
      if (row.control === "compensating") throw beingCancelled(row, "be paused");
      if (ended(row.status)) throw wrongStatus(row, "be paused", "It is not running.", "Nothing to do.");
      return plan({ kind: "pause_requested", step: "", meta: because(act) }, act);
    }).then((row) => {
      this.#deps.ports.probe("C15:pause-requested", { runId });
      return row;
    });
  }

  async resume(runId: string, options: ResumeOptions): Promise<RunRow> {
    const limits = checkBudget(options.budget);
    const budget: EventDraft[] = limits ? [{ kind: "budget_set", step: "", meta: limits }] : [];
    return this.#act(runId, async (row) => {
      if (await this.#wasResumed(row, options))
        return limits && differs(row, limits) ? { events: budget, actor: options.actor } : null;
      await this.#checkResumable(row);
      checkRaise(row, limits);
      const changes = await this.#changes(row, options);
      const meta = {
        ...because(options),
        ...(options.retryFailed ? { retryFailed: true } : {}),
        ...(options.id === undefined ? {} : { id: options.id }),
      };
      const events: EventDraft[] = [...budget, ...changes.events, { kind: "run_resumed", step: "", meta }];
      return { events, blobs: changes.blobs, actor: options.actor } satisfies ActPlan;
    }).then((row) => {
      this.#deps.ports.probe("C16:resumed", { runId });
      return row;
    });
  }

  /** Whether it goes on already, by this very resume or by one that asks for nothing else. */
  async #wasResumed(row: RunRow, { id, set, inject }: ResumeOptions): Promise<boolean> {
    const isGoing = row.status === "queued" || (row.status === "running" && row.control === "none");
    if (id !== undefined) {
      const last = await lastEvent(this.#deps.store, row, ["run_resumed"]);
      if (last?.kind === "run_resumed" && last.meta.id === id) return true;
    }
    if (!isGoing || (set === undefined && inject === undefined)) return isGoing;
    throw wrongStatus(row, "be resumed with changes", "It goes on already.", "Pause it first.");
  }

  async #checkResumable(row: RunRow): Promise<void> {
    await this.#checkKept(row);
    const { status, control } = row;
    const held = status === "waiting" && row.waiting.some((wait) => RESUMABLE.includes(wait.kind));
    if (control === "compensating" && !held) throw beingCancelled(row, "be resumed");
    if (status === "failed" && (await this.#compensated(row))) {
      const fix = "Fork it from a checkpoint, or start a new run.";
      throw wrongStatus(row, "be resumed", "Its steps were undone when it failed.", fix);
    }
    if (status !== "paused" && status !== "failed" && control !== "pausing" && !held) throw cannotResume(row);
  }

  /** A run that has begun to lose its values can do nothing more. */
  async #checkKept(row: RunRow): Promise<void> {
    const isEnded = ended(row.status) && (await isBeingDropped(this.#deps.store, row.id));
    if (row.prunedAt !== null || isEnded) throw dropped(row.id, row.seq);
  }

  /** What a resume brings along, as events of the same append. */
  async #changes(row: RunRow, { set, inject, reason }: ResumeOptions): Promise<Changes> {
    const { store, values, ports } = this.#deps;
    const events: EventDraft[] = [];
    const blobs: Blob[] = [];
    if (set) {
      if (row.status === "running")
        throw wrongStatus(row, "be edited", "It is finishing what is under way.", "Wait until it is paused.");
      const state = await loadRun(store, values, row);
      const edits = await editEvents(values, row.id, state, set, reason);
      events.push(...edits.events);
      blobs.push(...edits.blobs);
    }
    if (inject !== undefined) {
      const encoded = values.encode(`signal:${INJECT}`, inject);
      const meta = { name: INJECT, id: ports.ids.id() };
      events.push({ kind: "signal_received", step: "", meta, data: encoded.data });
      blobs.push(...encoded.blobs);
    }
    return { events, blobs };
  }

  /** Resumes a failed run unless that was done for this very reason before. */
  async resumeOnce(runId: string, reason: string): Promise<void> {
    await this.#act(runId, async (row) => {
      if (row.status !== "failed" || row.prunedAt !== null) return null;
      if (await isBeingDropped(this.#deps.store, row.id)) return null;
      const last = await lastEvent(this.#deps.store, row, ["run_resumed"]);
      if (last?.kind === "run_resumed" && last.meta.reason === reason) return null;
      return plan({ kind: "run_resumed", step: "", meta: { reason } }, { actor: "parent" });
    });
  }

  async #compensated(row: RunRow): Promise<boolean> {
    const event = await lastEvent(this.#deps.store, row, ["run_failed"]);
    return event?.kind === "run_failed" && event.meta.compensated === true;
  }

  cancel(runId: string, act: Act & { compensate?: boolean }): Promise<RunRow> {
    this.#deps.ports.probe("C17:before-cancel", { runId });
    return this.#act(runId, async (row) => {
      if (row.status === "cancelled" || (row.control === "compensating" && act.compensate)) return null;
      if (row.status === "completed")
        throw wrongStatus(row, "be cancelled", "It has finished.", "Nothing to do.");
      const meta = because(act);
      if (act.compensate) await this.#checkKept(row);
      if (act.compensate) return plan({ kind: "cancel_requested", step: "", meta }, act);
      return plan({ kind: "run_cancelled", step: "", meta }, act, { kind: "revoke" });
    }).then((row) => {
      this.#deps.ports.probe("C17:after-cancel", { runId });
      return row;
    });
  }

  async signal(runId: string, name: string, payload: unknown, options: Act & { id?: string }): Promise<void> {
    checkName(name);
    const { values, ports, store } = this.#deps;
    const encoded = values.encode(`signal:${name}`, payload);
    const id = options.id ?? ports.ids.id();
    await this.#act(runId, async (row) => {
      if (terminal(row.status))
        throw wrongStatus(row, "take a signal", "It has ended.", "Start or fork a run.");
      if (options.id !== undefined) {
        const known = (await loadRun(store, values, row)).signals.find((one) => one.id === id);
        if (
          known &&
          (known.name !== name ||
            (known.data !== undefined && JSON.stringify(known.data) !== JSON.stringify(encoded.data)))
        ) {
          throw new HoldfastError("HF-1020", { id, run: runId });
        }
        if (known) return null;
      }
      return plan(
        { kind: "signal_received", step: "", meta: { name, id }, data: encoded.data },
        options,
        undefined,
        encoded,
      );
    });
  }
}

interface Changes {
  readonly events: readonly EventDraft[];
  readonly blobs: readonly Blob[];
}

const beingCancelled = (row: RunRow, verb: string): HoldfastError =>
  wrongStatus(
    row,
    verb,
    "It is being cancelled, and what it did is being undone.",
    "Wait until it has ended.",
  );

function cannotResume(row: RunRow): HoldfastError {
  if (terminal(row.status))
    return wrongStatus(row, "be resumed", "It has ended.", "Fork it from a checkpoint to go on from there.");
  const what = row.waiting.map((wait) => `${wait.kind} ${wait.step}`).join(", ");
  return wrongStatus(row, "be resumed", `It waits for: ${what}.`, "Answer or resolve what it waits for.");
}
