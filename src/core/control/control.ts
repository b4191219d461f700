import { checkMessage } from "../declared-checks.ts";
import { HoldfastError } from "../errors.ts";
import { checkRaise, differs } from "../guards/budget.ts";
import { Families } from "../guards/families.ts";
import { because, checkAct, type NamedAct, noted, plan, told, wrongStatus } from "../journal/act.ts";
import type { ActPlan } from "../journal/acts.ts";
import { isLosingAll } from "../journal/dropped.ts";
import type { EventDraft, JournalEvent } from "../journal/events.ts";
import { foreignProblem, isForeign } from "../journal/foreign.ts";
import { isHeld, isHurried, isStopped } from "../journal/going-on.ts";
import { dropped } from "../journal/journal.ts";
import { lastEvent } from "../journal/load.ts";
import { attemptInReason } from "../journal/older-texts.ts";
import { actOn, type EngineParts } from "../journal/parts.ts";
import { checkSeen } from "../journal/seen-position.ts";
import { saysSame, withContent } from "../journal/signals.ts";
import { isAbout } from "../journal/wait-reason.ts";
import { signalStep } from "../keys.ts";
import { checkSignal } from "../names.ts";
import { checkBudget } from "../options.ts";
import type { Attempt } from "../run/execution-deps.ts";
import type { Edits } from "../types.ts";
import { type Budget, ended, type RunRow, terminal, type Waiting } from "../types.ts";
import { restoreRun } from "../worker/recovery.ts";
import { tellRaised } from "./raised.ts";
import { sentBefore } from "./repeats.ts";
import { type Changes, resumeChanges } from "./resume-changes.ts";

/** Options of `pause`: who, why, and whether children pause too. */
export interface PauseOptions extends NamedAct {
  /** Includes the runs below it. */
  readonly children?: boolean;
}

/** Options of `cancel`: who, why, and whether the run's work is undone first. */
export interface CancelOptions extends NamedAct {
  /** Undoes what was done first, in reverse order. */
  readonly compensate?: boolean;
}

/** Options of `resume`: who, why, and what changes with it. */
export interface ResumeOptions extends NamedAct {
  /** Retries every failed step, not only those the run failed on. */
  readonly retryFailed?: boolean;
  /** Retries at once, even if the receiver asked to wait (`Retry-After`). */
  readonly now?: boolean;
  /** New values that replace recorded ones. */
  readonly set?: Edits;
  /** Context for the run, which reads it with `ctx.inbox()`. */
  readonly inject?: unknown;
  /** Limits to change. A run that waits for its budget needs one that is high enough (otherwise HF-1025). */
  readonly budget?: Budget;
}

/** The acts of people and other programs on a run. Every act is one conditional append, so a race has one winner. */
export class Control {
  readonly #deps: EngineParts;

  constructor(deps: EngineParts) {
    this.#deps = deps;
  }

  async pause(runId: string, act: PauseOptions): Promise<RunRow> {
    checkAct(act);
    const { store, ports } = this.#deps;
    const row = await actOn(this.#deps, runId, async (row) => {
      if (await sentBefore(this.#deps, row, "pause", act.id)) return null;
      await checkSeen(store, row, act);
      if (row.control === "compensating") throw beingCancelled(row, "be paused");
      if (ended(row.status)) throw wrongStatus(row, "be paused", "It is not running.", "Nothing to do.");
      const children = act.children ? { children: true as const } : {};
      const asked: EventDraft = { kind: "pause_requested", step: "", meta: { ...told(act), ...children } };
      const events = (await this.#isAsked(row, act)) ? [] : [asked];
      // No worker is left to finish anything. If its worker is alive after all, it is fenced.
      const paused: EventDraft = { kind: "run_paused", step: "", meta: {} };
      if (await this.#isAbandoned(row))
        return { events: [...events, paused], actor: act.actor, claim: { kind: "revoke" } };
      return events.length === 0 ? noted("pause", act) : { events, actor: act.actor };
    });
    ports.probe("C15:pause-requested", { runId });
    return row;
  }

  /** True when it is already pausing, together with every run it starts. */
  async #isAsked(row: RunRow, { children }: PauseOptions): Promise<boolean> {
    if (row.status !== "paused" && row.control !== "pausing") return false;
    if (!children || row.openChildren === 0) return true;
    const last = await lastEvent(this.#deps.store, row, ["pause_requested"]);
    return last?.kind === "pause_requested" && last.meta.children === true;
  }

  /** True when its worker has let the claim expire. */
  async #isAbandoned({ status, claim }: RunRow): Promise<boolean> {
    return status === "running" && claim.until <= (await this.#deps.store.now());
  }

  async resume(runId: string, options: ResumeOptions): Promise<RunRow> {
    checkAct(options);
    const limits = checkBudget(options.budget);
    const budget: EventDraft[] = limits ? [{ kind: "budget_set", step: "", meta: limits }] : [];
    const { store, ports } = this.#deps;
    const row = await actOn(this.#deps, runId, async (row) => {
      if (await sentBefore(this.#deps, row, "resume", options.id)) return null;
      await checkSeen(store, row, options);
      const raise = limits && differs(row, limits) ? budget : [];
      if (isGoing(row, options) && !options.now) return noted("resume", options, raise);
      const families = Families.of(store);
      if (limits && waitsBelow(row, options)) {
        await checkRaise(families, row, limits);
        return noted("resume", options, raise);
      }
      if (!isHurried(row, options)) await this.#checkResumable(row);
      await checkRaise(families, row, limits);
      const changes = await this.#changes(row, options);
      const retry = options.retryFailed ? { retryFailed: true } : {};
      const meta = { ...told(options), ...retry, ...(options.now ? { now: true } : {}) };
      const events: EventDraft[] = [...budget, ...changes.events, { kind: "run_resumed", step: "", meta }];
      return { events, blobs: changes.blobs, actor: options.actor } satisfies ActPlan;
    });
    ports.probe("C16:resumed", { runId });
    if (limits) await tellRaised(this.#deps, runId);
    return row;
  }

  async #checkResumable(row: RunRow): Promise<void> {
    if (row.waiting.some(isForeign)) throw foreignProblem(row.id);
    await this.#checkKept(row);
    await this.#checkReadable(row);
    const { status, control } = row;
    const held = isHeld(row);
    if (control === "compensating" && !held) throw beingCancelled(row, "be resumed");
    if (status === "failed" && (await this.#compensated(row))) {
      const fix = "Fork it from a checkpoint, or start a new run.";
      throw wrongStatus(row, "be resumed", "Its steps were undone when it failed.", fix);
    }
    if (!isStopped(row) && !held) throw cannotResume(row);
  }

  /** A run that has begun to lose its values can do nothing more. */
  async #checkKept(row: RunRow): Promise<void> {
    if (await isLosingAll(this.#deps.store, row)) throw dropped(row.id, row.seq);
  }

  /** Reads the unreadable part again first: a resume that leads to the same review would only lengthen the journal. */
  async #checkReadable(row: RunRow): Promise<void> {
    if (!row.waiting.some(isDamaged)) return;
    const { store, values } = this.#deps;
    const found = await restoreRun({ store, values }, row, { fallbackToPrevious: true });
    if (HoldfastError.is(found)) throw found;
  }

  async #changes(row: RunRow, options: ResumeOptions): Promise<Changes> {
    if (options.set && row.status === "running")
      throw wrongStatus(row, "be edited", "It is finishing what is under way.", "Wait until it is paused.");
    return resumeChanges(this.#deps, row, options);
  }

  /** Resumes a failed child, unless that was already done for this attempt of its parent. */
  async resumeOnce(runId: string, { step, attempt }: Attempt): Promise<void> {
    await actOn(this.#deps, runId, async (row) => {
      if (row.status !== "failed" || (await isLosingAll(this.#deps.store, row))) return null;
      const last = await lastEvent(this.#deps.store, row, ["run_resumed"]);
      if (last?.kind === "run_resumed" && attemptOf(last) === attempt) return null;
      const meta = { reason: `${step} ${attempt}`, attempt };
      return plan({ kind: "run_resumed", step: "", meta }, { actor: "parent" });
    });
  }

  async #compensated(row: RunRow): Promise<boolean> {
    const event = await lastEvent(this.#deps.store, row, ["run_failed"]);
    return event?.kind === "run_failed" && event.meta.compensated === true;
  }

  async cancel(runId: string, act: CancelOptions): Promise<RunRow> {
    checkAct(act);
    const { store, ports } = this.#deps;
    ports.probe("C17:before-cancel", { runId });
    const row = await actOn(this.#deps, runId, async (row) => {
      if (await sentBefore(this.#deps, row, "cancel", act.id)) return null;
      await checkSeen(store, row, act);
      if (row.status === "cancelled" || (row.control === "compensating" && act.compensate))
        return noted("cancel", act);
      if (row.status === "completed")
        throw wrongStatus(row, "be cancelled", "It has finished.", "Nothing to do.");
      const meta = told(act);
      if (act.compensate) await this.#checkKept(row);
      if (act.compensate) return plan({ kind: "cancel_requested", step: "", meta }, act);
      return plan({ kind: "run_cancelled", step: "", meta }, act, { kind: "revoke" });
    });
    ports.probe("C17:after-cancel", { runId });
    return row;
  }

  async signal(runId: string, name: string, payload: unknown, options: NamedAct): Promise<void> {
    checkSignal(name);
    checkAct(options);
    const { values, ports, folds } = this.#deps;
    const encoded = values.encode(signalStep(name), payload);
    const id = options.id ?? ports.ids.id();
    await actOn(this.#deps, runId, async (row) => {
      await checkMessage(this.#deps.workflows.get(row.workflow), name, payload);
      if (options.id !== undefined) {
        const known = (await folds.open(row)).signals.find((one) => one.id === id);
        if (known && !saysSame(await withContent(values, row.id, known), { name, data: encoded.data }))
          throw new HoldfastError("HF-1020", { id, run: runId });
        if (known) return null;
      }
      await checkSeen(this.#deps.store, row, options);
      if (terminal(row.status))
        throw wrongStatus(row, "take a signal", "It has ended.", "Start or fork a run.");
      await this.#checkKept(row);
      const meta = { name, id, ...because(options) };
      return plan(
        { kind: "signal_received", step: "", meta, data: encoded.data },
        options,
        undefined,
        encoded,
      );
    });
  }
}

/** The attempt for which its parent has resumed it. */
const attemptOf = ({ actor, meta }: JournalEvent & { kind: "run_resumed" }): number | undefined =>
  meta.attempt ?? (actor === "parent" ? attemptInReason(meta.reason ?? "") : undefined);

/** True when it waits because its stored data couldn't be read. */
const isDamaged = (wait: Waiting): boolean => wait.kind === "review" && isAbout(wait, "HF-3010", "HF-3011");

/** True when it is already running and the resume brings nothing else. */
function isGoing(row: RunRow, { set, inject }: ResumeOptions): boolean {
  const isGoing = row.status === "queued" || (row.status === "running" && row.control === "none");
  if (!isGoing || (set === undefined && inject === undefined)) return isGoing;
  throw wrongStatus(row, "be resumed with changes", "It is already running.", "Pause it first.");
}

const beingCancelled = (row: RunRow, verb: string): HoldfastError =>
  wrongStatus(
    row,
    verb,
    "It is being cancelled, and what it did is being undone.",
    "Wait until it has ended.",
  );

/** True when it waits for its children, which are subject to its limits: these can be raised without resuming it. */
const waitsBelow = (row: RunRow, { set, inject }: ResumeOptions): boolean =>
  row.status === "waiting" &&
  row.openChildren > 0 &&
  !isHeld(row) &&
  set === undefined &&
  inject === undefined;

function cannotResume(row: RunRow): HoldfastError {
  if (terminal(row.status))
    return wrongStatus(
      row,
      "be resumed",
      "It has ended.",
      "To continue from an earlier point, fork it from a checkpoint.",
    );
  const what = row.waiting.map((wait) => `${wait.kind} ${wait.step}`).join(", ");
  return wrongStatus(row, "be resumed", `It waits for: ${what}.`, "Answer or resolve what it waits for.");
}
