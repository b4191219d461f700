import { Acts } from "./acts.ts";
import { type Clock, systemClock } from "./clock.ts";
import { CommitQueue } from "./commit.ts";
import type { GateAnswer } from "./context.ts";
import { type Act, Control, type OpenGate, type Resolution } from "./control.ts";
import { Emitter, type EngineEvent, type EngineEventOf, type EngineEventType } from "./emitter.ts";
import { HoldfastError } from "./errors.ts";
import type { JournalEvent } from "./events.ts";
import type { ExecutionDeps } from "./execution-deps.ts";
import { checkId, type Ids, systemIds } from "./ids.ts";
import { lastEvent } from "./load.ts";
import { type Logger, type Ports, type Probe, silentLogger } from "./ports.ts";
import type { RunPage, RunQuery, Store, StoreIdentity } from "./store.ts";
import { StoreTime } from "./store-time.ts";
import { ended, type Parent, type RunRow } from "./types.ts";
import { Values } from "./values.ts";
import { Worker } from "./worker.ts";
import type { Workflow } from "./workflow.ts";

export interface EngineOptions {
  readonly store: Store;
  readonly workflows?: readonly Workflow<never, unknown>[];
  /** `false`: only starts, watches and controls runs; other processes advance them. */
  readonly execute?: boolean;
  /** Name of this process in claims and the journal. */
  readonly owner?: string;
  /** How long a claim lasts without renewal. Default 15 s. */
  readonly claimMs?: number;
  /** How often to look for due runs. Default 1 s. */
  readonly sweepMs?: number;
  /** Runs advanced at once. Default 1,000. */
  readonly concurrency?: number;
  /** Takeovers without progress before a run waits for review. Default 3. */
  readonly maxRecoveries?: number;
  /** Waits that end within this time are sat out in memory. Default 5 s. */
  readonly holdMs?: number;
  /**
   * A run that waits is let go when nothing has happened for this long. Default 100 ms. A promise of the workflow's own that is
   * awaited for longer beside a wait is abandoned, and made again when the run goes on.
   */
  readonly quietMs?: number;
  /** How long a failing store is retried before runs are stopped cleanly. Default 60 s. */
  readonly storePatienceMs?: number;
  /** Time limit assumed for steps that name none, before an unknown `once` call may be run again. Default 5 min. */
  readonly assumedStepMs?: number;
  readonly limits?: { readonly valueBytes?: number; readonly warnBytes?: number };
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly logger?: Logger;
  /** Called at the protocol's named points, for crash tests. */
  readonly probe?: Probe;
}

export interface StartOptions {
  /** The same id is the same run: starting it again never makes a second one. */
  readonly id?: string;
}

/** A run as seen from outside. */
export type Run = Omit<RunRow, "head">;

const positive = (option: string, value: number): number => {
  if (Number.isFinite(value) && value > 0) return value;
  throw new HoldfastError("HF-1003", { option, problem: "it must be a number above 0" });
};

/**
 * Starts, advances and controls runs on one store.
 *
 * @example
 * ```ts
 * import { createEngine, workflow } from "holdfast";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const hello = workflow("hello", async (ctx, name: string) => ctx.step("greet", () => `Hello ${name}`));
 *
 * const engine = createEngine({ store: await openSqliteStore(), workflows: [hello] });
 * const run = await engine.start(hello, "Ada", { id: "hello-1" });
 * console.log(await engine.result(run.id));
 * await engine.close();
 * ```
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #store: Store;
  readonly #ports: Ports;
  readonly #workflows = new Map<string, Workflow>();
  readonly #emitter: Emitter;
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #queue: CommitQueue;
  readonly #time: StoreTime;
  readonly #acts: Acts;
  readonly #values: Values;
  readonly #control: Control;
  readonly #claimMs: number;
  readonly #owner: string;
  #worker: Promise<Worker> | null = null;
  #closed = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#ports = {
      clock: options.clock ?? systemClock,
      ids: options.ids ?? systemIds,
      logger: options.logger ?? silentLogger,
      probe: options.probe ?? (() => undefined),
    };
    this.#claimMs = positive("claimMs", options.claimMs ?? 15_000);
    this.#owner = options.owner ?? `worker-${this.#ports.ids.id().slice(0, 8)}`;
    this.#emitter = new Emitter(this.#ports.logger);
    this.#queue = new CommitQueue(this.#store, this.#ports, {
      patienceMs: positive("storePatienceMs", options.storePatienceMs ?? 60_000),
      onFailure: ({ runIds, error, sinceMs }) => this.#saveFailed(runIds, error, sinceMs),
    });
    this.#time = new StoreTime(this.#store, this.#ports.clock);
    this.#acts = new Acts(this.#store, this.#queue, this.#time);
    const limits = {
      valueBytes: options.limits?.valueBytes ?? 100_000_000,
      warnBytes: options.limits?.warnBytes ?? 500_000,
    };
    this.#values = new Values(this.#store, limits, this.#ports.logger);
    this.#control = new Control({
      store: this.#store,
      acts: this.#acts,
      values: this.#values,
      ports: this.#ports,
      written: (row, events) => this.#written(row, events),
    });
    for (const workflow of options.workflows ?? []) this.register(workflow);
  }

  /** Durable flushes so far, for measuring. */
  get flushes(): number {
    return this.#queue.flushes;
  }

  /** Makes a workflow known, so that its runs can be advanced here. */
  register(workflow: Workflow<never, unknown>): void {
    this.#workflows.set(workflow.name, workflow as Workflow);
  }

  /** Starts a run, or answers the one that has this id. Durable when it answers. */
  async start<I, O>(workflow: Workflow<I, O>, input: I, options: StartOptions = {}): Promise<Run> {
    this.#checkOpen();
    this.register(workflow as Workflow<never, unknown>);
    const id = options.id ?? this.#ports.ids.runId();
    checkId(id);
    return this.#create(workflow as Workflow, id, input, null);
  }

  async #create(workflow: Workflow, id: string, input: unknown, parent: Parent | null): Promise<RunRow> {
    const { clock, ids, probe } = this.#ports;
    const worker = await this.#ownWorker();
    const { name, version } = workflow;
    const encoded = this.#values.encode("input", input);
    const identity = { id, workflow: name, version, lineage: id, parent, createdAt: this.#time.now() };
    const created = {
      kind: "run_created",
      step: "",
      meta: { workflow: name, version, lineage: id, ...(parent ? { parent } : {}) },
      data: encoded.data,
    } as const;
    const claimed = { kind: "run_claimed", step: "", meta: { owner: this.#owner, recovery: 0 } } as const;
    const deadline = clock.monotonic() + this.#claimMs;
    probe("C01:before-create", { runId: id });
    const acted = await this.#acts.create(identity, {
      events: worker ? [created, claimed] : [created],
      blobs: encoded.blobs,
      claim: worker
        ? { kind: "acquire", owner: this.#owner, token: ids.token(), ttlMs: this.#claimMs }
        : { kind: "keep" },
    });
    probe("C01:after-create", { runId: id });
    if (!acted) return this.#existing(workflow, id);
    this.#announce(id, acted.events);
    if (worker) void worker.execute(acted.row, deadline, { events: acted.events });
    return acted.row;
  }

  async #existing(workflow: Workflow, id: string): Promise<RunRow> {
    const row = await this.#store.read(id);
    if (!row) throw new HoldfastError("HF-1001", { run: id });
    if (row.workflow !== workflow.name)
      throw new HoldfastError("HF-1002", { run: id, workflow: row.workflow });
    return row;
  }

  /** Advances due runs from now on, until `close`. Keeps the process alive. */
  async work(): Promise<void> {
    this.#checkOpen();
    await this.#work(false);
  }

  /** Takes every run that is due now (crashed ones included) and begins to advance it; answers their ids. */
  async recover(): Promise<string[]> {
    this.#checkOpen();
    const worker = await this.#work(true);
    return worker.sweep();
  }

  /** The worker, running, if this engine may advance runs at all. */
  async #ownWorker(): Promise<Worker | null> {
    if (this.#options.execute === false || this.#workflows.size === 0 || this.#closed) return null;
    return this.#work(true);
  }

  #work(background: boolean): Promise<Worker> {
    this.#worker ??= this.#openWorker().catch((error: unknown) => {
      // A store that cannot be opened now may be there later.
      this.#worker = null;
      throw error;
    });
    return this.#worker.then((worker) => {
      worker.start(background);
      return worker;
    });
  }

  async #openWorker(): Promise<Worker> {
    const identity = await this.#store.identity();
    await this.#time.read();
    const { sweepMs = 1_000, concurrency = 1_000, maxRecoveries = 3 } = this.#options;
    return new Worker({
      execution: this.#executionDeps(identity),
      acts: this.#acts,
      control: this.#control,
      workflows: this.#workflows,
      settings: {
        sweepMs: positive("sweepMs", sweepMs),
        concurrency: positive("concurrency", concurrency),
        maxRecoveries,
      },
      owner: this.#owner,
    });
  }

  #executionDeps(identity: StoreIdentity): ExecutionDeps {
    const { holdMs = 5_000, quietMs = 100, assumedStepMs = 300_000 } = this.#options;
    return {
      store: this.#store,
      identity,
      queue: this.#queue,
      ports: this.#ports,
      time: this.#time,
      values: this.#values,
      settings: { claimMs: this.#claimMs, holdMs, quietMs, assumedStepMs },
      engine: {
        durable: (row, events) => this.#announce(row.id, events),
        startChild: (workflow, runId, input, parent) => {
          this.register(workflow as Workflow<never, unknown>);
          return this.#create(workflow, runId, input, parent);
        },
        resumeChild: (runId, reason) => this.#control.resumeOnce(runId, reason),
        notifyParent: (child) => this.#control.notifyParent(child),
        evidence: (runId, step, attempt, data) => {
          void this.#control.evidence(runId, step, attempt, data).catch((error: unknown) => {
            this.#ports.logger.warn("evidence was not kept", { runId, step, error: String(error) });
          });
        },
      },
    };
  }

  /** The run's result once it has completed; throws when it failed (HF-2101) or was cancelled (HF-2110). */
  async result<O = unknown>(runId: string): Promise<O> {
    const row = await this.#until(runId, ({ status }) => ended(status));
    if (row.status === "cancelled")
      throw new HoldfastError("HF-2110", { run: runId, reason: "Somebody cancelled it." });
    const event = await lastEvent(this.#store, row, ["run_completed", "run_failed"]);
    const value = await this.#values.decode(runId, event?.data);
    if (row.status === "completed") return value as O;
    const steps = event?.kind === "run_failed" ? event.meta.steps : [];
    const why =
      steps.length === 0
        ? "Its function threw."
        : "The step failed for good, and the workflow did not handle it.";
    throw new HoldfastError(
      "HF-2101",
      { step: steps[0] ?? `Run ${runId}`, attempts: 1, message: row.error ?? "", why },
      { cause: value },
    );
  }

  /** The run once nothing is under way: ended, paused, or waiting for something. */
  settled(runId: string): Promise<Run> {
    return this.#until(runId, ({ status }) => status !== "queued" && status !== "running");
  }

  async #until(runId: string, done: (row: RunRow) => boolean): Promise<RunRow> {
    const { sweepMs = 1_000 } = this.#options;
    await this.#ownWorker();
    for (;;) {
      // Watch first: a change between the read and the wait must not be missed.
      let wake = (): void => undefined;
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const unwatch = this.#watch(runId, wake);
      const cancel = this.#ports.clock.setTimer(wake, sweepMs);
      try {
        const row = await this.#store.read(runId);
        if (!row) throw new HoldfastError("HF-1001", { run: runId });
        if (done(row)) return row;
        this.#checkOpen();
        await changed;
      } finally {
        unwatch();
        cancel();
      }
    }
  }

  /** Calls `wake` when something happens to the run itself. By run, so that a thousand waiters cost no more than one. */
  #watch(runId: string, wake: () => void): () => void {
    const watchers = this.#watchers.get(runId) ?? new Set();
    this.#watchers.set(runId, watchers.add(wake));
    return () => {
      watchers.delete(wake);
      if (watchers.size === 0) this.#watchers.delete(runId);
    };
  }

  #announce(runId: string, events: readonly JournalEvent[]): void {
    this.#emitter.journal(runId, events);
    const watchers = this.#watchers.get(runId);
    if (watchers && events.some((event) => event.kind.startsWith("run_")))
      for (const wake of watchers) wake();
  }

  /** One run, or `null`. */
  async get(runId: string): Promise<Run | null> {
    checkId(runId);
    return this.#store.read(runId);
  }

  list(query: RunQuery): Promise<RunPage> {
    return this.#store.list(query);
  }

  /** Stops the run at its next step boundary. Once this answers, no new step will start. */
  async pause(runId: string, act: Act = {}): Promise<Run> {
    checkId(runId);
    return this.#control.pause(runId, act);
  }

  /** Lets a paused or failed run go on. */
  async resume(runId: string, act: Act & { retryFailed?: boolean } = {}): Promise<Run> {
    checkId(runId);
    return this.#control.resume(runId, act);
  }

  /** Ends the run for good. With `compensate`, what it did is undone first, in reverse order. */
  async cancel(runId: string, act: Act & { compensate?: boolean } = {}): Promise<Run> {
    checkId(runId);
    return this.#control.cancel(runId, act);
  }

  /** Puts a message into the run's mailbox. The same delivery id twice is one message. */
  async signal(
    runId: string,
    name: string,
    payload?: unknown,
    options: Act & { id?: string } = {},
  ): Promise<void> {
    checkId(runId);
    await this.#control.signal(runId, name, payload, options);
  }

  /** The gates the run waits at. */
  async gates(runId: string): Promise<OpenGate[]> {
    checkId(runId);
    return this.#control.gates(runId);
  }

  /** Answers a gate. The first answer counts; a second one is told of it (HF-1014). */
  async answer(
    runId: string,
    gate: string,
    answer: { choice: string; text?: string; digest?: string } & Act,
  ): Promise<GateAnswer> {
    checkId(runId);
    return this.#control.answer(runId, gate, answer);
  }

  /** Says what became of a step whose outcome is unknown. */
  async resolve(runId: string, step: string, resolution: Resolution & Act): Promise<Run> {
    checkId(runId);
    return this.#control.resolve(runId, step, resolution);
  }

  /** Calls `listener` for each event of a type, after what it tells is durable. Answers a function that ends it. */
  on<T extends EngineEventType>(type: T, listener: (event: EngineEventOf<T>) => void): () => void {
    return this.#emitter.on(type, listener as (event: EngineEvent) => void);
  }

  /** Every event from now on. */
  events(): AsyncIterable<EngineEvent> {
    return this.#emitter.stream();
  }

  /** Stops taking runs, lets calls under way finish for up to `drainMs`, and gives the runs back. The store stays open. */
  async close(options: { drainMs?: number } = {}): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#worker) await (await this.#worker).stop(options.drainMs ?? 10_000);
    this.#emitter.close();
  }

  #written(row: RunRow, events: readonly JournalEvent[]): void {
    this.#announce(row.id, events);
    void this.#ownWorker().then((worker) => {
      const execution = worker?.active(row.id);
      if (execution && row.claim.token === execution.writer.row.claim.token) void execution.writer.catchUp();
      else if (execution) execution.fence();
      void worker?.sweep();
    });
  }

  #saveFailed(runIds: readonly string[], error: unknown, sinceMs: number): void {
    const at = this.#ports.clock.now();
    this.#ports.logger.error("not saved", { runs: runIds.length, sinceMs, error: String(error) });
    for (const runId of runIds) this.#emitter.emit({ type: "checkpoint_failed", runId, at, error, sinceMs });
  }

  #checkOpen(): void {
    if (this.#closed) throw new HoldfastError("HF-1008");
  }
}

export const createEngine = (options: EngineOptions): Engine => new Engine(options);
