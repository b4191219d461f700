import { createCarrier } from "../carrier.ts";
import type { Workflow } from "../context.ts";
import { detached } from "../detached.ts";
import { HoldfastError } from "../errors.ts";
import { CodeGuard } from "../guards/code.ts";
import type { Guard } from "../guards/guard.ts";
import { Inspector } from "../guards/inspector.ts";
import type { Asking, BudgetNotes } from "../guards/port.ts";
import type { Grant } from "../guards/rate-gate.ts";
import { hmac } from "../hash.ts";
import type { Birth } from "../journal/birth.ts";
import type { EventDraft, JournalEvent } from "../journal/events.ts";
import { isReopening } from "../journal/going-on.ts";
import type { IntentParts, PendingEvent } from "../journal/pending-event.ts";
import type { RunState } from "../journal/state.ts";
import { isDamage } from "../journal/unreadable.ts";
import { forReview } from "../journal/wait-reason.ts";
import { RunWriter, type Stop, type WriterHooks } from "../journal/writer.ts";
import { isUndo } from "../keys.ts";
import type { Blob } from "../store/contract.ts";
import { isStoreFault } from "../store/faults.ts";
import type { RunRow, Waiting } from "../types.ts";
import { Aborts } from "./aborts.ts";
import { type ActiveRun, closed, type ExecutionEnd, never } from "./active-run.ts";
import { Blame } from "./blame.ts";
import { Calls } from "./calls.ts";
import type { ExecutionDeps } from "./execution-deps.ts";
import { writeIntent } from "./intent.ts";
import { RunMemory } from "./memory.ts";
import { broken } from "./problems.ts";
import type { Frame, Scope } from "./scope.ts";
import { Snapshots } from "./snapshots.ts";
import { writeStreams } from "./streams.ts";
import { Summaries } from "./summaries.ts";
import { markFailure, markPhase } from "./triggers.ts";
import { knowsUndos, mayUndo, undoAndCancel, undoDoubts } from "./undo.ts";
import { OpenWaits } from "./waiting.ts";

/** `parking`: the event that releases the run is being written, and new ctx calls wait to see whether it lands. */
type Phase =
  | { readonly is: "open" | "closed" }
  | {
      readonly is: "parking";
      readonly settled: Promise<void>;
      readonly resume: () => void;
      readonly event: PendingEvent;
    };

/**
 * A wait for a rate limit is held this many times as long as others: what would take the run's place in its queue
 * mostly needs the same limit, and would only be taken up to wait, too.
 */
const LIMIT_HOLDS = 12;

/** The scope of a ctx call. One carrier serves all runs: it is keyed by the promise chain. */
const scopes = createCarrier<{ execution: Execution; scope: Scope }>();

/**
 * One process's work on one claimed run, from claim to release. It owns the writer, knows the calls in progress and the
 * run's waits, and decides when to release: finished, parked, paused, fenced.
 */
export class Execution implements ActiveRun {
  readonly runId: string;
  readonly workflow: Workflow;
  readonly deps: ExecutionDeps;
  readonly writer: RunWriter;
  readonly ended: Promise<ExecutionEnd>;
  /** The undos of finished steps that this process has reached. */
  readonly undos = new Map<string, (scope: Scope) => Promise<void>>();
  readonly memory: RunMemory;
  readonly snapshots = new Snapshots(this);
  readonly #summaries = new Summaries(this);
  readonly calls: Calls;
  /** Run before every intent. */
  readonly guards: readonly Guard[];
  /** If the journal holds effects: makes sure that the body asks for them before it has new ones. */
  readonly code: CodeGuard | undefined;
  /** Examines values that enter the run, if the engine has a content check. */
  readonly inspector: Inspector | undefined;
  /** True when this process didn't start the run. */
  restored = true;
  /** The grant of the queue's rate: the run's function must begin in time. */
  grants: readonly Grant[] = [];
  config: Readonly<Record<string, unknown>> = {};
  compensating = false;
  cancelling = false;
  /** Why the store refuses the run's writes. */
  rejection: unknown;
  /** True when the workflow's function has returned or thrown. */
  bodyEnded = false;
  /** Called when the run is told to continue before it has stopped and none of its code is running. */
  onward: (() => void) | undefined;
  /** The number of intents written so far: tells a loop whether an iteration has been made durable. */
  intents = 0;
  readonly aborts = new Aborts();
  asking: Asking | undefined;
  readonly budgetNotes: BudgetNotes = { turnsUnderWay: 0, freeSince: undefined };
  readonly blamed = new Blame();
  readonly #root: Scope;
  readonly #waits: OpenWaits;
  #phase: Phase = { is: "open" };
  #draining = false;
  #busy = 0;
  #activity = 0;
  #quietTimer: (() => void) | null = null;
  #end!: (end: ExecutionEnd) => void;

  constructor(
    deps: ExecutionDeps,
    workflow: Workflow,
    row: RunRow,
    state: RunState,
    deadline: number,
    birth?: Birth,
  ) {
    this.deps = deps;
    this.calls = new Calls(() => new Promise((resolve) => deps.ports.clock.defer(resolve)));
    this.runId = row.id;
    this.workflow = workflow;
    this.#waits = new OpenWaits({
      clock: deps.ports.clock,
      time: deps.time,
      mayWake: () => this.#phase.is === "open",
      woken: (frame) => {
        this.calls.unblock(frame);
        this.#activity++;
      },
    });
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    const { store, queue, ports, settings, time } = deps;
    this.writer = new RunWriter(
      { store, queue, ports, time, hooks: this.#hooks(), ttlMs: settings.claimMs },
      row,
      state,
      deadline,
      birth,
    );
    this.memory = new RunMemory(this);
    this.code = CodeGuard.of(this, state);
    this.guards = deps.guards(this);
    this.inspector = deps.contentCheck && new Inspector(this, deps.contentCheck);
    this.#root = {
      prefix: "",
      node: state.root,
      counts: new Map(),
      abort: this.aborts.body,
      frame: undefined,
      shared: false,
    };
  }

  #hooks(): WriterHooks {
    return {
      durable: (events: readonly JournalEvent[]) => {
        this.#summaries.hear(events);
        this.deps.engine.durable(this.writer.row, events);
        // A call abandoned at its time limit may still end what a later attempt waits for.
        if (this.#waits.size > 0)
          for (const event of events) if (event.kind === "step_completed") this.#waits.wake(event.step);
      },
      outside: (events: readonly JournalEvent[]) => this.#outside(events),
      stopped: (reason: Stop, error: unknown) => this.#stopped(reason, error),
      unsaved: (pending: readonly PendingEvent[]) => this.#keepEvidence(pending),
      quiet: () => {
        this.snapshots.ifDue();
        this.#summaries.ifDue();
        this.considerEnding();
      },
    };
  }

  get state(): RunState {
    return this.writer.state;
  }

  get closed(): boolean {
    return this.#phase.is === "closed";
  }

  /** True when the run waits for anything here. */
  get isWaiting(): boolean {
    return this.#waits.size > 0;
  }

  /** Ignores the body's waits from now on. */
  dropWaits(): void {
    this.#waits.drop();
  }

  /** The run's own scope, for steps made by the engine. */
  get rootScope(): Scope {
    return this.#root;
  }

  /** The scope of the current promise chain, or the run's own. */
  scope(): Scope {
    const current = scopes.get();
    return current?.execution === this ? current.scope : this.#root;
  }

  within<R>(scope: Scope, body: () => R): R {
    return scopes.run({ execution: this, scope }, body);
  }

  /** True when a ctx call may proceed at once. */
  get isOpen(): boolean {
    this.#activity++;
    return this.#phase.is === "open";
  }

  /** Every ctx call passes here: it proceeds only while this process may work on the run. */
  async enter(): Promise<void> {
    this.#activity++;
    while (this.#phase.is === "parking") await this.#phase.settled;
    if (this.closed) await closed(this.writer.row, this.deps.ports.logger);
  }

  /** Like `enter`, for synchronous calls. */
  enterNow(): void {
    this.#activity++;
    if (this.closed) throw new HoldfastError("HF-1009");
  }

  /**
   * Writes an intent; returns `true` when it is durable and the claim is still surely held, `false` when the step was
   * decided from outside in the meantime and the intent wasn't written. While the store fails and runs continue anyway,
   * a repeatable call's intent need not be durable.
   */
  intent(event: EventDraft, frame: Frame | undefined, more?: IntentParts): Promise<boolean> {
    this.intents++;
    this.memory.live();
    if (this.#draining) return never();
    this.inspector?.note();
    return writeIntent(this, event, frame, more, this.#renew);
  }

  /** Decides a step without a call: intent and outcome are one write, so that no crash separates them. */
  async decideUncalled(
    intent: EventDraft,
    outcome: EventDraft,
    blobs: readonly Blob[],
    frame: Frame | undefined,
  ): Promise<void> {
    this.intents++;
    this.memory.live();
    this.calls.block(frame);
    const held = { intent: true, undo: isUndo(intent.step) };
    await new Promise<void>((resolve) => {
      this.writer.record({ event: intent, ...held });
      this.writer.record({ event: outcome, blobs, ...held, onDurable: () => resolve() });
      this.considerEnding();
    });
    this.calls.unblock(frame);
  }

  /** A frozen process wakes up here: it acts only if the store says that it still owns the run. */
  readonly #renew = async (): Promise<void> => {
    const { token, epoch } = this.writer.row.claim;
    const sentAt = this.deps.ports.clock.monotonic();
    const ttlMs = this.deps.settings.claimMs;
    const claim = { runId: this.runId, epoch, token: token as string, ttlMs };
    const [row] = await this.busy(this.deps.store.renew([claim]));
    if (row) this.writer.deadline = sentAt + ttlMs;
    else this.fence();
  };

  /**
   * Runs the engine's own work for the run: the run isn't released meanwhile, and a failing store isn't the body's
   * concern.
   */
  async busy<T>(work: Promise<T>): Promise<T> {
    this.#busy++;
    try {
      return await work;
    } catch (error) {
      return this.#workFailed(error);
    } finally {
      this.#busy--;
      this.considerEnding();
    }
  }

  /** Like `busy`, for values that may be available already. */
  read<T>(get: () => T | Promise<T>): T | Promise<T> {
    try {
      const value = get();
      return value instanceof Promise ? this.busy(value) : value;
    } catch (error) {
      return this.#workFailed(error);
    }
  }

  #workFailed<T>(error: unknown): Promise<T> {
    if (isDamage(error)) this.parkForReview(error);
    else if (HoldfastError.is(error) && !isStoreFault(error)) throw error;
    else this.giveUp(error);
    return never();
  }

  /** Records something that needs no permission: an outcome, a note. */
  record(event: EventDraft, blobs: readonly Blob[] = [], onDurable?: (event: JournalEvent) => void): void {
    this.writer.record({ event, blobs, ...(onDurable ? { onDurable } : {}) });
    if (event.kind === "step_failed") markFailure(this, event);
    else if (event.kind === "step_completed") markPhase(this, event.step);
  }

  /** Records an outcome that may be decided or voided from outside first; returns whether ours was accepted. */
  contest(
    event: EventDraft,
    blobs: readonly Blob[] = [],
    overtakenBy?: (event: JournalEvent) => boolean,
  ): Promise<boolean> {
    return new Promise((done) => {
      const [onDurable, onOvertaken] = [() => done(true), () => done(false)];
      this.writer.record({ event, blobs, onDurable, onOvertaken, overtakenBy });
    });
  }

  callEnded(frame: Frame): void {
    this.calls.end(frame);
    this.considerEnding();
  }

  /** Waits until the step is decided or its time has come. */
  wait(key: string, waiting: Waiting, frame: Frame | undefined): Promise<void> {
    this.calls.block(frame);
    const decided = this.#waits.add(key, waiting, frame);
    this.considerEnding();
    return decided;
  }

  /** Resets the timers of all waits, because the store's clock may have been corrected. */
  rearm(): void {
    this.#waits.rearm();
  }

  /** The key by which receivers deduplicate. Never stored, never logged. */
  idempotencyKey(step: string, call: number): string {
    const { id, lineage } = this.writer.row;
    return hmac(this.deps.identity.secret, [id, lineage, this.state.firstKey(step), call].join("|"));
  }

  /** Called when the claim is lost. */
  fence(): void {
    this.writer.fence();
  }

  /** Results that can't be written any more still prove what happened. */
  #keepEvidence(unsaved: readonly PendingEvent[]): void {
    for (const { event, blobs = [] } of unsaved) {
      const record = event.kind === "step_completed" ? this.state.find(event.step) : undefined;
      const isNeeded = record && (record.effect !== "repeatable" || record.undo);
      if (!isNeeded || event.data === undefined) continue;
      const first = this.state.firstKey(event.step);
      this.deps.engine.evidence(this.runId, first, record.attempt, { data: event.data, blobs });
    }
  }

  /** Called when the store stayed down: stops before the next effect, and leaves the rest to a later claim. */
  giveUp(error: unknown): void {
    this.#stopped("lost", error);
  }

  #stopped(reason: Stop, error: unknown): void {
    if (this.closed) return;
    if (reason === "rejected") this.rejection = error;
    if (reason === "broken") this.rejection = broken(this.runId, error);
    this.deps.ports.logger.warn(`run ${reason}`, {
      runId: this.runId,
      ...(error ? { error: error instanceof Error ? error.message : "unknown" } : {}),
    });
    this.close("stopped");
  }

  /** Ends the work here. Whatever the body still awaits never settles. */
  close(end: ExecutionEnd): void {
    if (this.closed) return;
    this.#phase = { is: "closed" };
    this.writer.close();
    this.#quietTimer?.();
    this.dropWaits();
    if (end !== "completed" && end !== "failed") this.aborts.stopAll();
    this.#end(end);
  }

  /** Writes the run's last event here and releases the claim. Events from outside are processed first. */
  finish(end: ExecutionEnd, event: EventDraft, blobs: readonly Blob[] = []): void {
    const onOvertaken = () => {
      const { control } = this.writer.row;
      // A run that failed and was undone hasn't failed if it is told to stop before that is written.
      const isUndoing = this.compensating && control === "compensating" && end === "waiting";
      const stands = end === "cancelled" || isUndoing || (end !== "paused" && control === "none");
      if (stands) return this.finish(end, event, blobs);
      if (end !== "paused") this.onward = () => this.finish(end, event, blobs);
      this.considerEnding();
    };
    this.inspector?.note();
    this.writer.record({ event, blobs, release: true, onDurable: () => this.close(end), onOvertaken });
  }

  /** Lets calls in progress finish, then releases the run for any worker. */
  drain(): void {
    this.deps.ports.probe("C22:draining", { runId: this.runId });
    this.#draining = true;
    this.considerEnding();
  }

  #outside(events: readonly JournalEvent[]): void {
    this.#summaries.hear(events);
    if (this.#phase.is === "parking") this.#unpark(this.#phase);
    for (const event of events) {
      if (event.kind === "signal_received") this.#waits.wakeForSignal(event.meta.name);
      else if (event.step !== "") this.#waits.wake(event.step);
      else if (isReopening(event.kind)) this.wakeGuards();
      else if (event.kind === "cancel_requested") this.aborts.stopCalls(this.runId);
    }
    this.considerEnding();
  }

  /** Makes guards that hold a step back check again. */
  wakeGuards(): void {
    this.#waits.wakeGuards();
  }

  #unpark({ event, resume }: Phase & { readonly is: "parking" }): void {
    this.#phase = { is: "open" };
    this.writer.withdraw((one) => one === event);
    resume();
    this.#waits.wakeDue();
  }

  /** Checks again after a moment without activity: nothing may be in progress when the run is released. */
  considerEnding(): void {
    if (this.closed || this.calls.active > 0 || this.#busy > 0) return;
    const { onward } = this;
    const isFree = this.writer.row.control === "none";
    if (isFree) this.onward = undefined;
    if (isFree && onward) return onward();
    if (this.#waits.size === 0 && isFree && !this.#draining) return;
    this.#quietTimer?.();
    const seen = this.#activity;
    this.#quietTimer = this.deps.ports.clock.setTimer(() => {
      if (this.#phase.is !== "open" || this.calls.active > 0 || this.#busy > 0) return;
      if (seen !== this.#activity || !this.writer.idle) return this.considerEnding();
      this.#letGo();
    }, this.deps.settings.quietMs);
  }

  #letGo(): void {
    const { control } = this.writer.row;
    if (control === "pausing") return this.finish("paused", { kind: "run_paused", step: "", meta: {} });
    const waiting = this.#waits.all();
    if (control === "compensating" && mayUndo(this)) {
      const doubts = undoDoubts(this, waiting);
      if (doubts.length > 0) return this.#park(doubts);
      return knowsUndos(this) ? this.detach(undoAndCancel(this), "undoing") : this.considerEnding();
    }
    if (this.#draining) return this.finish("stopped", { kind: "run_released", step: "", meta: {} });
    const now = this.deps.time.now();
    const { holdMs } = this.deps.settings;
    const held = ({ kind }: Waiting) => (kind === "limit" ? LIMIT_HOLDS * holdMs : holdMs);
    const soon = (wait: Waiting) => wait.until !== undefined && wait.until - now <= held(wait);
    if (waiting.some(soon)) this.rearm();
    else if (waiting.length > 0) this.#park(waiting);
  }

  #park(waiting: readonly Waiting[]): void {
    let resume = (): void => undefined;
    const settled = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const event: PendingEvent = {
      event: { kind: "run_waiting", step: "", meta: { waiting } },
      release: true,
      onDurable: () => this.close("waiting"),
    };
    writeStreams(this);
    this.#phase = { is: "parking", settled, resume, event };
    this.inspector?.note();
    this.writer.record(event);
  }

  /** Runs work for the run that nothing awaits. If it fails, the run is left to a person instead of standing still. */
  detach(work: Promise<unknown>, what: string): void {
    const guarded = work.catch((error: unknown) => {
      this.parkForReview(HoldfastError.is(error) ? error : broken(this.runId, error));
      throw error;
    });
    detached(guarded, this.deps.ports.logger, what, { runId: this.runId });
  }

  /** Leaves the run to a person, with the reason. */
  parkForReview(problem: HoldfastError): void {
    const waiting = forReview(problem, this.deps.time.now());
    this.finish("waiting", { kind: "run_waiting", step: "", meta: { waiting: [waiting] } });
  }
}
