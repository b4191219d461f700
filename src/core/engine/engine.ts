import { checkNumber } from "../check-options.ts";
import type { GateAnswer, Workflow } from "../context.ts";
import { type CancelOptions, Control, type PauseOptions, type ResumeOptions } from "../control/control.ts";
import { type Answer, Decisions, type OpenGate, type Resolution } from "../control/decisions.ts";
import { type BulkReport, Family, type OfWorkflow } from "../control/family.ts";
import { type InjectOptions, injectInto } from "../control/inject.ts";
import { type RetryOptions, retryStep } from "../control/retry.ts";
import { HoldfastError } from "../errors.ts";
import type { Flow } from "../flow/flow.ts";
import type { Prices } from "../flow/prices.ts";
import type { Queues } from "../flow/queues.ts";
import type { RateLimits } from "../flow/rate-limits.ts";
import type { Schedules } from "../flow/schedules.ts";
import { checkId } from "../ids.ts";
import type { NamedAct } from "../journal/act.ts";
import { readShown } from "../journal/door.ts";
import type { JournalEvent } from "../journal/events.ts";
import type { EngineParts } from "../journal/parts.ts";
import { insistOn } from "../journal/row-shape.ts";
import { engineStore } from "../journal/scratch-store.ts";
import type { Alerts } from "../manage/alerts/alerts.ts";
import { Audit } from "../manage/audit/audit.ts";
import { Checkpoints } from "../manage/checkpoints/checkpoints.ts";
import type { ForkOptions } from "../manage/fork/fork.ts";
import type { ForkPreview } from "../manage/fork/fork-preview.ts";
import { Migrations } from "../manage/migrations.ts";
import { OutsideRuns } from "../manage/outside/outside.ts";
import type { PlanOptions, ResumePlan } from "../manage/plan/plan-types.ts";
import type { Replay, ReplayOptions } from "../manage/replay/replay-run.ts";
import { Reports } from "../manage/reports/reports.ts";
import { Restarts } from "../manage/restart/restarts.ts";
import type { DeleteOptions, DeleteReport } from "../manage/retention/delete.ts";
import { RetentionLoop } from "../manage/retention/loop.ts";
import { Retention } from "../manage/retention/retention.ts";
import type { Slo } from "../manage/slo/slo.ts";
import type { RunSearch } from "../manage/status/find-runs.ts";
import { beginWork } from "../manage/status/idle.ts";
import type { RunReport } from "../manage/status/run-status.ts";
import { Waits } from "../manage/status/waits.ts";
import { RunStreams } from "../manage/streams/streams.ts";
import { Transfer } from "../manage/transfer/transfer.ts";
import { Views } from "../manage/views.ts";
import type { StartOptions } from "../options.ts";
import type { Ports } from "../ports.ts";
import type { ExecutionDeps } from "../run/execution-deps.ts";
import type { Schemas } from "../standard-schema.ts";
import type { CommitQueue } from "../store/commit.ts";
import type { RunPage, Store } from "../store/contract.ts";
import { ended, type Run, type RunRow } from "../types.ts";
import { Emitter } from "../worker/emitter.ts";
import type { EventsOptions } from "../worker/event-stream.ts";
import type { EngineEvent, EngineEventOf, EngineEventType } from "../worker/event-types.ts";
import { describeHealth, type Health, heldRun, openQueue } from "../worker/health.ts";
import { lookAt } from "../worker/look-at.ts";
import { type RecoveryPolicy, recoveryPolicy } from "../worker/recovery.ts";
import { WorkerRegistry } from "../worker/registry.ts";
import { workflowNamed } from "../worker/served.ts";
import { RunWatch, readResult } from "../worker/watch.ts";
import type { Worker } from "../worker/worker.ts";
import { WorkerSlot } from "../worker/worker-slot.ts";
import { checkWorkflow } from "../workflow.ts";
import type { Advanced, AdvanceOptions } from "./advance.ts";
import { engineAlerts } from "./alerts.ts";
import { checkCall, checkEngineOptions, checkVerb, executionSettings } from "./arguments.ts";
import { actOnAll } from "./bulk.ts";
import { cancelFamily, pauseFamily, resumeFamily } from "./family-acts.ts";
import { engineFlow } from "./flow.ts";
import type { Linked } from "./links.ts";
import { questions, verbs, work } from "./on-demand.ts";
import type { EngineOptions } from "./options.ts";
import { engineObserver, engineParts, enginePorts } from "./ports.ts";
import { recordStoreActs } from "./recorded-acts.ts";
import { RunHandle } from "./run-handle.ts";
import { Starter } from "./start.ts";

/**
 * Starts, advances and controls runs on one store.
 *
 * @example
 * ```ts
 * import { createEngine, workflow } from "holdfast";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const hello = workflow("hello", async (ctx, name: string) => ctx.step("greet", () => `Hello ${name}`));
 * const engine = createEngine({ store: await openSqliteStore(), workflows: [hello] });
 * const run = await engine.start(hello, "Ada", { id: "hello-1" });
 * console.log(await engine.result(run.id));
 * await engine.close();
 * ```
 */
export class Engine {
  /** Examines, compares, verifies, names and pins positions of runs. */
  readonly checkpoints: Checkpoints;
  /** Drops values that a policy doesn't keep. */
  readonly retention: Retention;
  /** Predicts and applies what a new version of the code means for stored runs. */
  readonly migrations: Migrations;
  /** Reports for auditors and operators: trails, recoveries, effects, capacity. */
  readonly reports: Reports;
  /** What was done to the store, and signed heads over that and all journals. */
  readonly audit: Audit;
  /** Moves runs from one store to another. */
  readonly transfer: Transfer;
  /** Starts runs again that can't be restored, and lists what could happen twice. */
  readonly restarts: Restarts;
  /** Keeps what programs outside save of their own work. */
  readonly outside: OutsideRuns;
  /** Starts runs at set times. */
  readonly schedules: Schedules;
  /** Limits of calls or tokens per period, shared by all processes. */
  readonly rateLimits: RateLimits;
  /** Limits of how many runs are advanced at once. */
  readonly queues: Queues;
  /** What models cost. */
  readonly prices: Prices;
  /** What runs write with `ctx.stream`, while they do. */
  readonly streams: RunStreams;
  /** Saved views of the list of runs. */
  readonly views: Views;
  /** Service levels: targets, and what is measured beside them. */
  readonly slo: Slo;
  /** What goes wrong, and who is told. */
  readonly alerts: Alerts;
  /** The processes that advance runs on this store. */
  readonly workers: WorkerRegistry;
  readonly #options: EngineOptions;
  readonly #store: Store;
  readonly #ports: Ports;
  readonly #workflows = new Map<string, Workflow>();
  /** The workflows that this process has code for, by name. */
  readonly workflows: ReadonlyMap<string, Workflow> = this.#workflows;
  readonly #emitter: Emitter;
  readonly #watch: RunWatch;
  readonly #queue: CommitQueue;
  readonly #recovery: RecoveryPolicy;
  readonly #linked: Linked;
  readonly #control: Control;
  readonly #decisions: Decisions;
  readonly #family: Family;
  readonly #starter: Starter;
  readonly #parts: EngineParts;
  readonly #claimMs: number;
  readonly #sweepMs: number;
  readonly #owner: string;
  readonly #retentionLoop: RetentionLoop;
  readonly #flow: Flow;
  readonly #slot = new WorkerSlot(
    () => this.#openWorker(),
    (background) => this.#flow.start(background),
  );
  #closed = false;

  constructor(options: EngineOptions) {
    checkEngineOptions(options);
    this.#options = options;
    this.#ports = enginePorts(options);
    this.#store = engineStore(options, this.#ports, (error) => this.#queue.health.wentBack(error));
    this.#claimMs = checkNumber("claimMs", options.claimMs ?? 15_000);
    this.#owner = options.owner ?? `worker-${this.#ports.ids.id().slice(0, 8)}`;
    this.#emitter = new Emitter(this.#ports.logger);
    this.#recovery = recoveryPolicy(options.recovery);
    const observer = engineObserver(options, this.#store, this.#ports);
    this.#queue = openQueue(this.#store, this.#ports, this.#emitter, options, observer);
    this.#sweepMs = checkNumber("sweepMs", options.sweepMs ?? 1_000);
    this.audit = new Audit(this.#store, this.#ports, options.audit);
    const around = { workflows: this.#workflows, written: this.#written, observer };
    this.#parts = engineParts(options, this.#store, this.#queue, this.#ports, around);
    this.#watch = new RunWatch(this.#parts, this.#queue, this.#sweepMs, this.#slot);
    this.#control = new Control(this.#parts);
    this.#decisions = new Decisions(this.#parts);
    this.#family = new Family(this.#parts, this.#control);
    this.#starter = new Starter({
      parts: this.#parts,
      family: this.#family,
      owner: this.#owner,
      claimMs: this.#claimMs,
      ownWorker: () => this.#ownWorker(),
      isQueued: (tags) => this.#flow.places.holds(tags),
      announce: this.#announce,
    });
    this.checkpoints = new Checkpoints(this.#parts);
    this.retention = new Retention(this.#parts);
    this.#retentionLoop = new RetentionLoop(this.#parts, { policy: options.retention ?? "default" });
    this.migrations = new Migrations(this.#parts, () => this.#foresight());
    this.reports = new Reports(this.#parts, () => this.audit.check());
    this.transfer = new Transfer(this.#parts, this.#family);
    this.outside = new OutsideRuns(this.#parts);
    this.streams = new RunStreams(this.#parts, (...wait) => this.#moved(...wait));
    this.restarts = new Restarts(this.#parts, (...run) => this.#starter.create(...run));
    this.workers = new WorkerRegistry(this.#store, () => this.#ports.ids.token(), this.#ports.processes);
    const operate = engineAlerts(this.#parts, this.#owner, this.#queue.health, this.audit, options);
    ({ slo: this.slo, alerts: this.alerts } = operate);
    this.views = new Views(this.#store, () => this.#ports.ids.token());
    this.#linked = this.#links();
    this.#flow = engineFlow(this.#linked, options, (runId, act) => this.cancel(runId, act));
    ({ schedules: this.schedules, rateLimits: this.rateLimits, queues: this.queues } = this.#flow);
    this.prices = this.#flow.prices;
    for (const workflow of options.workflows ?? []) this.register(workflow);
    this.#flow.declareAll(options.schedules || []);
    recordStoreActs(this);
  }

  #links(): Linked {
    return {
      parts: this.#parts,
      queue: this.#queue,
      control: this.#control,
      decisions: this.#decisions,
      family: this.#family,
      starter: this.#starter,
      register: (workflow) => this.register(workflow),
      announce: this.#announce,
      flow: () => this.#flow,
    };
  }

  /** The number of durable flushes so far, for measurements. */
  get flushes(): number {
    return this.#queue.flushes;
  }

  /** The state of the store, unsaved events, and work in progress here. Available even while the store is down. */
  health(): Health {
    return describeHealth(this.#queue.health, this.#slot.running);
  }

  /** Registers a workflow, so that its runs can be advanced here. */
  register(workflow: Workflow<never, unknown>): void {
    checkWorkflow(workflow);
    this.#workflows.set(workflow.name, workflow as Workflow);
    this.#flow.registered(workflow);
    for (const child of workflow.children ?? [])
      if (this.#workflows.get(child.name) !== child) this.register(child);
  }

  /** Starts a run, or returns the one with this id and input (HF-1041 if they differ). Resolves when durable. */
  async start<I, O, S extends Schemas = Schemas>(
    workflow: Workflow<I, O, S>,
    input: I,
    options: StartOptions = {},
  ): Promise<RunHandle<O, S>> {
    this.#checkOpen();
    this.register(workflow as Workflow<never, unknown>);
    return new RunHandle<O, S>(this, await this.#starter.begin(workflow as Workflow, input, options));
  }

  /** The same by name: of a workflow that this process has the code of, or else a live worker (HF-5001 if none). */
  async startNamed(name: string, input: unknown, options: StartOptions = {}): Promise<RunHandle<unknown>> {
    this.#checkOpen();
    const code = await workflowNamed(name, this.#workflows, this.workers);
    return new RunHandle(this, await this.#starter.begin(code, input, options));
  }

  /** A run of this workflow that exists, or will: to wait for its result, and to act on it. */
  run<O, S extends Schemas = Schemas>(workflow: Workflow<never, O, S>, id: string): RunHandle<O, S> {
    this.register(workflow as Workflow<never, unknown>);
    return new RunHandle<O, S>(this, id);
  }

  /** Advances due runs until `close`, and keeps the process alive. Resolves when the store is available. */
  async work(): Promise<void> {
    this.#checkOpen();
    await beginWork(this.#ports, this.#store, this.#workflows, () => this.#closed || this.#slot.work(false));
  }

  /** Takes every run that is due now, begins to advance it, and returns their ids when the last one has begun. */
  async recover(): Promise<string[]> {
    this.#checkOpen();
    return (await this.#slot.work(true)).takeAll();
  }

  /** Advances due runs until none is due or the time is over, then hands over; see {@link AdvanceOptions}. */
  async advance(options: AdvanceOptions = {}): Promise<Advanced> {
    this.#checkOpen();
    return (await work()).advance(this.#ports.clock, options, this.#options, this.#openWorker.bind(this));
  }

  /** The running worker, if this engine may advance runs. */
  async #ownWorker(): Promise<Worker | null> {
    if (this.#options.execute === false || this.#workflows.size === 0 || this.#closed) return null;
    return this.#slot.work(true);
  }

  async #openWorker(more: Pick<EngineOptions, "concurrency"> = {}): Promise<Worker> {
    const { engineWorker, insteadOfParking } = await work();
    const worker = engineWorker(this.#linked, { ...this.#options, ...more }, await this.#foresight(), {
      queues: this.#flow.places,
      settings: { sweepMs: this.#sweepMs, recovery: this.#recovery, keep: this.#retentionLoop.keep },
      owner: this.#owner,
      tell: (event) => this.#emitter.emit(event),
      unrestorable: insteadOfParking(this.#parts, this.restarts, this.#recovery),
    });
    if (this.#options.saving !== false) for (const loop of [this.#retentionLoop, this.audit]) loop.start();
    return worker;
  }

  /** The result of a completed run; throws HF-2101 (failed), HF-2110 (cancelled) or HF-3010 (damaged). */
  async result<O = unknown>(runId: string): Promise<O> {
    const row = await this.#until(runId, ({ status, damage }) => ended(status) || damage !== undefined);
    return (await readResult(this.#parts, insistOn(row), this.#watch.ending(row))) as O;
  }

  /** Resolves with the run once nothing is in progress: it has ended, is paused, or waits for something. */
  settled(runId: string): Promise<Run> {
    return this.#until(runId, ({ status }) => status !== "queued" && status !== "running");
  }

  async #until(runId: string, done: (row: RunRow) => boolean): Promise<RunRow> {
    checkId(runId);
    await this.#ownWorker();
    const waits = new Waits(this.#ports.logger, this.#owner);
    return this.#watch.until(runId, done, (row) => {
      this.#checkOpen();
      if (row) waits.say(row, this.#parts.time.now());
    });
  }

  async #moved(runId: string, done: (row: RunRow) => boolean, roundMs: number): Promise<RunRow> {
    await this.#ownWorker();
    return this.#watch.until(runId, done, () => this.#checkOpen(), roundMs);
  }

  readonly #announce = (row: RunRow, events: readonly JournalEvent[]): void => {
    this.#parts.observer?.wrote?.(row, events);
    this.#emitter.journal(row.id, events);
    this.#watch.changed(row.id, events);
    this.#retentionLoop.heard(row.id, events);
    this.#flow.heard(row.id, events);
    this.audit.heard(events.length);
  };

  /** One run, or `null`. A run whose record doesn't verify waits for review, and `damage` says why. */
  async get(runId: string): Promise<Run | null> {
    checkId(runId);
    return readShown(this.#store, runId);
  }

  /** Describes in one sentence what the run does or waits for, and what a person can do about it. */
  async status(runId: string): Promise<RunReport> {
    checkId(runId);
    const held = heldRun(this.#queue.health, this.#slot.active(runId));
    return (await questions()).readStatus(this.#parts, runId, held);
  }

  /** Stored runs, newest first, one page at a time (100 runs, unless `limit` says otherwise); every filter must match. */
  async list(query: RunSearch = {}): Promise<RunPage> {
    return (await questions()).findRuns(this.#store, query);
  }

  /** Stops the run at its next step boundary. No new step starts after this resolves. */
  async pause(runId: string, act: PauseOptions = {}): Promise<Run> {
    checkCall("pause", runId, act, this.#options);
    return pauseFamily(this.#linked, runId, act);
  }

  /** Lets a paused, failed or held-back run continue. Its changes are part of the same write. */
  async resume(runId: string, options: ResumeOptions & { children?: boolean } = {}): Promise<Run> {
    checkCall("resume", runId, options, this.#options);
    return resumeFamily(this.#linked, runId, options);
  }

  /** Ends the run and those it started for good. With `compensate`, their work is undone first, in reverse order. */
  async cancel(runId: string, act: CancelOptions = {}): Promise<Run> {
    checkCall("cancel", runId, act, this.#options);
    return cancelFamily(this.#linked, runId, act);
  }

  /** Deletes an ended run and those it started. None of them is left, and the id is free; see {@link DeleteOptions}. */
  async delete(runId: string, options: DeleteOptions = {}): Promise<DeleteReport> {
    return (await verbs()).deleteRun(this.#parts, runId, options);
  }

  /** Pauses every unfinished run of a workflow. Runs that can't be paused are listed with the reason. */
  pauseAll(query: OfWorkflow, act: PauseOptions = {}): Promise<BulkReport> {
    return actOnAll(this.#family, "pause", query, act, (id) => this.pause(id, act));
  }

  /** Resumes every run of a workflow that is paused or about to be. */
  resumeAll(query: OfWorkflow, act: NamedAct & { children?: boolean } = {}): Promise<BulkReport> {
    return actOnAll(this.#family, "resume", query, act, (id) => this.resume(id, act));
  }

  /** Cancels every unfinished run of a workflow. */
  cancelAll(query: OfWorkflow, act: CancelOptions = {}): Promise<BulkReport> {
    return actOnAll(this.#family, "cancel", query, act, (id) => this.cancel(id, act));
  }

  /** Gives context to a run and, with `children`, to those it started. A repeated delivery id counts once. */
  async inject(runId: string, context: unknown, options: InjectOptions = {}): Promise<void> {
    checkCall("inject", runId, options, this.#options);
    await injectInto(this.#control, this.#family, runId, context, options);
  }

  /** Gives the same context to every unfinished run of a workflow. */
  injectAll(query: OfWorkflow, context: unknown, options: InjectOptions = {}): Promise<BulkReport> {
    return actOnAll(this.#family, "inject", query, options, (id) => this.inject(id, context, options));
  }

  /** Creates a run that continues from a checkpoint (`run@seq`) of another one; see {@link ForkOptions}. */
  async fork(address: string, options: ForkOptions = {}): Promise<Run> {
    this.#checkOpen();
    checkVerb("fork", options);
    return (await verbs()).forkRun(this.#parts, address, options);
  }

  /** Predicts what `fork` would do about the calls that the source has made since. Changes nothing. */
  async previewFork(address: string, options: ForkOptions = {}): Promise<ForkPreview> {
    checkVerb("fork", options);
    return (await verbs()).previewFork(this.#parts, address, options);
  }

  /** Runs the workflow's function against the records up to a checkpoint. Calls nothing and changes nothing. */
  async replay(address: string, options: ReplayOptions = {}): Promise<Replay> {
    checkVerb("replay", options);
    return (await verbs()).replayCheckpoint(await this.#foresight(), this.#workflows, address, options);
  }

  /** Predicts what a resume with these options would do now. Changes nothing. */
  async plan(runId: string, options: PlanOptions = {}): Promise<ResumePlan> {
    checkCall("plan", runId, options);
    return (await verbs()).planResume(await this.#foresight(), this.#workflows, runId, options);
  }

  /** The dependencies that a worker here has, or would have. */
  async #foresight(): Promise<ExecutionDeps> {
    await this.#parts.time.read();
    const { executionDeps } = await work();
    const settings = executionSettings(this.#options, this.#claimMs);
    return executionDeps(await this.#store.identity(), this.#options, settings, this.#linked);
  }

  /** Puts a message into the run's mailbox. A repeated delivery id counts once. */
  async signal(runId: string, name: string, payload?: unknown, options: NamedAct = {}): Promise<void> {
    checkCall("signal", runId, options);
    await this.#control.signal(runId, name, payload, options);
  }

  /** The gates that the run waits at; without a run, those of all runs, longest open first. */
  async gates(runId?: string): Promise<OpenGate[]> {
    if (runId === undefined) return this.#decisions.allGates();
    checkId(runId);
    return this.#decisions.gates(runId);
  }

  /** Answers a gate. The first answer counts; a second one gets HF-1014. */
  async answer(runId: string, gate: string, answer: Answer): Promise<GateAnswer> {
    checkCall("answer", runId, answer);
    return this.#decisions.answer(runId, gate, answer);
  }

  /** Resolves a step whose outcome is unknown. */
  async resolve(runId: string, step: string, resolution: Resolution & NamedAct): Promise<Run> {
    checkCall("resolve", runId, resolution);
    if (resolution.action !== "cancel") return this.#decisions.resolve(runId, step, resolution);
    await this.#decisions.checkInDoubt(runId, step);
    return this.cancel(runId, resolution);
  }

  /** Calls a step again that has failed, or whose outcome is unknown. */
  async retry(runId: string, step: string, options: RetryOptions = {}): Promise<Run> {
    checkCall("retry", runId, options, this.#options);
    return retryStep(this, this.#parts, runId, step, options);
  }

  /** Calls `listener` for each event of a type, after the event is durable. Returns a function that removes it. */
  on<T extends EngineEventType>(type: T, listener: (event: EngineEventOf<T>) => void): () => void {
    return this.#emitter.on(type, listener as (event: EngineEvent) => void);
  }

  /** Every event from now on, until the engine is closed or the reader stops; see {@link EventsOptions}. */
  events(options: EventsOptions = {}): AsyncIterableIterator<EngineEvent> {
    return this.#emitter.stream(options);
  }

  /**
   * Stops taking runs, lets calls in progress finish for up to `drainMs` (default 10 s), and releases the runs. With 0
   * nothing more is written, as in a crash. The store stays open.
   */
  async close({ drainMs = 10_000 }: { drainMs?: number } = {}): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all([this.#retentionLoop.stop(), this.#flow.stop(), this.alerts.stop(drainMs > 0)]);
    await this.#slot.stop(drainMs);
    if (drainMs > 0) await Promise.all([this.#retentionLoop.finish(), this.#parts.logs.flush()]);
    await this.audit.stop(drainMs > 0);
    this.#emitter.close();
  }

  readonly #written = (row: RunRow, events: readonly JournalEvent[]): void => {
    this.#announce(row, events);
    lookAt(this.#ownWorker(), row, this.#ports.logger);
  };

  #checkOpen(): void {
    if (this.#closed) throw new HoldfastError("HF-1008");
  }
}

/** Creates an engine on a store. Nothing is read or written before it is used. */
export const createEngine = (options: EngineOptions): Engine => new Engine(options);
