import { type Prepared, Upgrades } from "../changes/upgrades.ts";
import type { Workflow } from "../context.ts";
import { detached } from "../detached.ts";
import { HoldfastError } from "../errors.ts";
import type { Grant } from "../guards/rate-gate.ts";
import type { Birth } from "../journal/birth.ts";
import type { EventMeta, JournalEvent } from "../journal/events.ts";
import { foreignProblem, isUnaccepted } from "../journal/foreign.ts";
import { waitForKey, waitsForKey } from "../journal/key-wait.ts";
import { MOST_KEPT } from "../journal/load.ts";
import { ScratchStore } from "../journal/scratch-store.ts";
import { RunState } from "../journal/state.ts";
import { isDamage, isKeyAway } from "../journal/unreadable.ts";
import { forReview } from "../journal/wait-reason.ts";
import type { ExecutionEnd } from "../run/active-run.ts";
import { runBody } from "../run/body.ts";
import { Execution } from "../run/execution.ts";
import { markPressure } from "../run/triggers.ts";
import type { News } from "../store/contract.ts";
import { isFileDamage } from "../store/faults.ts";
import { ended, type RunRow } from "../types.ts";
import { type Claimable, claimMeta, claimToken, lossOf } from "./claim-meta.ts";
import { DamagedRuns } from "./damaged.ts";
import { Neighbours } from "./neighbours.ts";
import { Overlooked } from "./overlooked.ts";
import type { Terms } from "./queue-gate.ts";
import { limitRecovery, recoveryProblem, restoreProblem, restoreRun } from "./recovery.ts";
import { Renewals } from "./renewals.ts";
import { Sweeper, type SweeperDeps, type Take } from "./sweeper.ts";
import { WakeUps } from "./wake-ups.ts";
import type { WorkerDeps } from "./worker-deps.ts";

/** How long a stopping worker waits for its last events to be saved. */
const HAND_OVER_MS = 1_000;

interface ExecuteOptions {
  /** The run's whole journal, if available. */
  readonly events?: readonly JournalEvent[];
  /** Set when the run isn't created yet. */
  readonly birth?: Birth;
  /** True when its worker died: this is a recovery. */
  readonly died?: boolean;
  /** Since when it has waited for its key. */
  readonly keyless?: number | undefined;
  /** The grant of the queue's rate. */
  readonly grant?: Grant | undefined;
}

/**
 * Claims runs and advances them. Recovery is a continuous sweep: whatever is due and not held by a live claim is taken,
 * whether its worker died, its timer fired or a person answered. Claims are renewed on a separate timer.
 */
export class Worker {
  readonly #deps: WorkerDeps;
  readonly #upgrades: Upgrades;
  readonly #damaged: DamagedRuns;
  readonly #active = new Map<string, Execution>();
  readonly #claiming = new Set<string>();
  readonly #loading = new Set<string>();
  /** Due runs that are being claimed, and ended ones whose families are being told. */
  readonly #taking = new Map<string, Promise<Take>>();
  /** Runs that were stopped here because the store stayed down, by the epoch then: their worker didn't die. */
  readonly #leftOff = new Map<string, number>();
  #cancelSweep: (() => void) | null = null;
  #inBackground = true;
  readonly #sweeper: Sweeper;
  readonly #renewals: Renewals;
  readonly #wakeUps: WakeUps;
  readonly #overlooked: Overlooked;
  readonly #neighbours: Neighbours;
  #stopped = false;
  readonly #stopHearing: (() => void) | undefined;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.#upgrades = new Upgrades(deps);
    this.#sweeper = new Sweeper(this.#sweeping());
    this.#damaged = new DamagedRuns(deps);
    this.#renewals = new Renewals(
      deps.execution,
      () => this.running,
      () => void this.hasMemory(),
    );
    const claimed = (row: RunRow) => this.claimed(row);
    const watching = { ...deps, claimed, isTaken: (row: RunRow) => this.#isTaken(row) };
    this.#overlooked = new Overlooked({ ...watching, take: (row) => this.#sweeper.one(row) });
    this.#neighbours = new Neighbours(watching);
    const wake = () => this.#detach(this.sweep(), "a sweep");
    this.#wakeUps = new WakeUps(this.#clock, deps.execution.time, wake);
    deps.queues.onPlace(wake);
    this.#stopHearing = deps.execution.store.hear?.((news) => this.#heard(news));
    deps.execution.queue.health.onBack((error) => {
      for (const execution of this.running) execution.giveUp(error);
    });
  }

  get #clock() {
    return this.#deps.execution.ports.clock;
  }

  /** The work on a run in this process. */
  active(runId: string): Execution | undefined {
    return this.#active.get(runId);
  }

  get running(): readonly Execution[] {
    return [...this.#active.values()];
  }

  /** Starts sweeping. `background`: doesn't keep the process alive; a later call without it does. */
  start(background: boolean): void {
    if (this.#stopped || (this.#cancelSweep && (background || !this.#inBackground))) return;
    this.#cancelSweep?.();
    this.#inBackground = background;
    this.#sweepLater(0);
  }

  #sweepLater(ms: number): void {
    if (this.#stopped) return;
    const next = () => this.#sweepLater(this.#deps.settings.sweepMs);
    const sweep = () => this.#detach(this.#sweepAll().finally(next), "a sweep");
    this.#cancelSweep = this.#clock.setTimer(sweep, ms, { background: this.#inBackground });
  }

  async #sweepAll(): Promise<void> {
    if (this.#mayLook) await this.#neighbours.look();
    await this.sweep();
    if (this.#mayLook) await this.#overlooked.look();
  }

  /** True when runs may be looked for beyond those that the store lists as due, and there may be any. */
  get #mayLook(): boolean {
    const { store, queue } = this.#deps.execution;
    const isSound = !queue.health.failing && !queue.health.isBack;
    const isOwn = store instanceof ScratchStore || store.capabilities.endsClaims === true;
    return !this.#stopped && this.#room > 0 && isSound && !isOwn;
  }

  /** Looks for due runs now; returns the ids of those taken, including by a sweep already in progress. */
  sweep(): Promise<string[]> {
    return this.#sweeper.sweep();
  }

  /** Other processes write to runs that are advanced here, or that may be due now. */
  #heard({ runs, isDue }: News): void {
    if (!isDue) return;
    const own = runs === null ? this.running : runs.flatMap((id) => this.#active.get(id) ?? []);
    for (const { writer } of own) writer.hear();
    if (runs === null || own.length < runs.length) this.#detach(this.sweep(), "a sweep");
  }

  /** Called when a run was written to from outside, and may be due now. */
  async seeTo(row: RunRow): Promise<void> {
    if (row.wakeAt !== null && row.wakeAt <= this.#deps.execution.time.now()) await this.#sweeper.one(row);
  }

  /** True from the moment when a run is to be taken until it is advanced, or isn't. */
  isTaking(runId: string): boolean {
    return this.#sweeper.isComing(runId) || this.#claiming.has(runId) || this.#loading.has(runId);
  }

  /** Takes every run that is due now, as room becomes available; returns their ids. */
  async takeAll(): Promise<string[]> {
    if (this.#mayLook) await this.#neighbours.look();
    return this.#sweeper.all();
  }

  #sweeping(): SweeperDeps {
    const { execution, workflows, queues } = this.#deps;
    const { store, time, ports, queue } = execution;
    const { health } = queue;
    return {
      clock: ports.clock,
      now: () => time.now(),
      mayTake: () => !health.isBack && this.hasMemory() && !(health.failing && health.restMs > 0),
      // One run is enough to see whether a failing store is back.
      room: () => (health.failing ? Math.min(this.#room, 1) : this.#room),
      prepare: async () => {
        // With saving turned off, stored runs keep waiting.
        if (!(store instanceof ScratchStore)) await this.#upgrades.look();
      },
      // From here on events are dated by the store's clock, which may have moved in the meantime.
      check: async () => {
        await time.read();
        return store.identity();
      },
      due: async (limit) => {
        const rows = await store.due({ workflows: [...workflows.keys()], limit, without: queues.leftOut() });
        health.answered();
        return rows;
      },
      isTaken: (row) => this.#isTaken(row),
      take: (row) => this.#take(row),
      nextRound: () => queues.nextRound(),
      isApart: store.capabilities.independent === true,
      failed: (error) => {
        health.failed(error, false);
        ports.logger.error("sweep failed", { error: String(error) });
      },
    };
  }

  get #room(): number {
    const { concurrency } = this.#deps.settings;
    return concurrency - this.#active.size - this.#loading.size - this.#claiming.size;
  }

  async #take(row: RunRow): Promise<Take> {
    const isLate = (this.#stopped || this.#deps.queues.isFull(row)) && !ended(row.status);
    if (isLate || this.#isTaken(row) || this.#isBarred(row)) return "left";
    const taking = this.#seeToDue(row);
    this.#taking.set(row.id, taking);
    return taking;
  }

  async #seeToDue(row: RunRow): Promise<Take> {
    const isOver = ended(row.status);
    if (!isOver) this.#claiming.add(row.id);
    try {
      if (!(await this.#damaged.isSound(row))) return "left";
      if (isOver) return await this.#deps.family.tell(row).then(() => "done");
      const isFree = (await this.#deps.family.follows(row)) && !this.#leaves(row);
      const claim = (terms: Terms) => this.#claim(row, terms);
      return isFree && (await this.#deps.queues.within(row, claim)) ? "taken" : "left";
    } catch (error) {
      if (isDamage(error) || isFileDamage(error)) await this.#damaged.meet(row, error).catch(() => undefined);
      else this.#deps.execution.ports.logger.error("claim failed", { runId: row.id, error: String(error) });
    } finally {
      this.#claiming.delete(row.id);
      this.#taking.delete(row.id);
      this.#sweeper.freed();
    }
    return "left";
  }

  /** True when nothing more of the run can be written. */
  #isBarred({ id }: RunRow): boolean {
    return this.#deps.execution.queue.damageAt(id) !== undefined;
  }

  #isTaken({ id }: RunRow): boolean {
    return [this.#taking, this.#loading, this.#active].some((runs) => runs.has(id));
  }

  /**
   * True when a due run is left to others: to those that know its version, or, right after an outage, to the worker
   * that couldn't renew its claim and may well be alive.
   */
  #leaves(row: RunRow): boolean {
    const { owner, execution } = this.#deps;
    const isOthers = row.status === "running" && row.claim.owner !== owner;
    const isKnown = execution.store.capabilities.endsClaims === true;
    const isEarly = !isKnown && execution.queue.health.soundMs < execution.settings.claimMs;
    return (isOthers && isEarly) || this.#upgrades.leaves(row);
  }

  async #claim(row: RunRow, { grant, ...limits }: Terms): Promise<boolean> {
    const { owner, acts, execution } = this.#deps;
    const { ports, settings, store, identity } = execution;
    const lost = await restoreProblem(store, identity, row);
    if (lost && row.control !== "pausing") return this.#putAside(row, lost);
    const died = row.status === "running" && this.#leftOff.get(row.id) !== row.claim.epoch;
    const recovery = died ? row.recoveries + 1 : row.recoveries;
    this.#leftOff.delete(row.id);
    // Nothing is called when the run only has to pause.
    const isTried = died && row.control !== "pausing";
    const problem = isTried ? recoveryProblem(this.#deps.settings.recovery, row.id, recovery) : undefined;
    if (problem) return this.#putAside(row, problem, recovery);
    const deadline = ports.clock.monotonic() + settings.claimMs;
    // A run that only has to pause doesn't record this store.
    const meta = lost ? { owner, recovery } : this.claimed(row, recovery);
    const loss = died ? lossOf(row, ports) : {};
    const acted = await acts.write(row, {
      events: [{ kind: "run_claimed", step: "", meta: { ...meta, ...loss } }],
      claim: { kind: "acquire", owner, token: claimToken(ports), ttlMs: settings.claimMs, ...limits },
    });
    if (!acted) return false;
    execution.engine.durable(acted.row, acted.events);
    if (died) this.#alarm(row.id, recovery);
    ports.probe("C02:claimed", { runId: row.id });
    if (recovery > 0) ports.probe("C21:recovering", { runId: row.id });
    if (this.#stopped) {
      const kind = row.control === "pausing" ? "run_paused" : "run_released";
      await acts.write(acted.row, { events: [{ kind, step: "", meta: {} }], claim: { kind: "release" } });
      return false;
    }
    this.begin(acted.row, deadline, { died, keyless: waitsForKey(row), grant });
    return true;
  }

  /** The content of this worker's claim. */
  claimed(row: Claimable, recovery?: number): EventMeta["run_claimed"] {
    return claimMeta(this.#deps, row, recovery);
  }

  /** Leaves the run to a person, in the same write as a claim, so that a crash of this process can't come in between. */
  async #putAside(row: RunRow, problem: HoldfastError, recovery = 0): Promise<false> {
    const { acts, execution } = this.#deps;
    const { ports, time, engine } = execution;
    const waiting = [forReview(problem, time.now())];
    const acted = await acts.write(row, {
      events: [
        { kind: "run_claimed", step: "", meta: this.claimed(row) },
        { kind: "run_waiting", step: "", meta: { waiting } },
      ],
      claim: { kind: "release", epoch: row.claim.epoch + 1 },
    });
    if (!acted) return false;
    engine.durable(acted.row, acted.events);
    this.#alarm(row.id, recovery);
    ports.logger.warn(problem.message, { runId: row.id, code: problem.code });
    return false;
  }

  /** The store refuses this run for good, but takes the note that a person must look. */
  async #rejected({ writer: { row }, rejection, runId }: Execution): Promise<void> {
    const message = rejection instanceof Error ? rejection.message : String(rejection);
    const isOurs = HoldfastError.is(rejection, "HF-2189");
    const problem = isOurs ? rejection : new HoldfastError("HF-2177", { run: runId, message });
    await this.#putAside(row, problem).catch((error: unknown) => {
      this.#deps.execution.ports.logger.error(problem.message, { runId, error: String(error) });
    });
  }

  /** Reports repeated deaths of a run's workers. */
  #alarm(runId: string, recovery: number): void {
    const { settings, tell, execution } = this.#deps;
    const { alarmAfter, maxAttempts: limit } = settings.recovery;
    if (recovery < alarmAfter) return;
    execution.ports.logger.error("run keeps losing its worker", { runId, recovery, limit });
    tell({ type: "recovery_alarm", runId, at: this.#clock.now(), recovery, limit });
  }

  /**
   * Advances a claimed run in the background. If that can't even begin, the run is taken up again when its claim has
   * expired.
   */
  begin(claimed: RunRow, deadline: number, options: ExecuteOptions = {}): void {
    const { id, claim } = claimed;
    const work = this.#execute(claimed, deadline, options).catch((error: unknown) => {
      this.#leftOff.set(id, claim.epoch);
      this.#active.get(id)?.close("stopped");
      this.#active.delete(id);
      options.birth?.settle({ ok: false, reason: "rejected", error });
      throw error;
    });
    this.#detach(work, "taking up a run");
  }

  #detach(work: Promise<unknown>, what: string): void {
    detached(work, this.#deps.execution.ports.logger, what);
  }

  /** Runs until it ends, parks or is taken away. */
  async #execute(claimed: RunRow, deadline: number, options: ExecuteOptions = {}): Promise<ExecutionEnd> {
    const { execution: deps, workflows, settings } = this.#deps;
    const workflow = workflows.get(claimed.workflow) as Workflow;
    // A run that was just created has the version of its code, and nothing to be read.
    const { events } = options;
    const prepared = events
      ? { row: claimed, state: RunState.of(events), problem: undefined }
      : await this.#prepare(claimed, workflow, options);
    if (typeof prepared === "string") return prepared;
    const { row, state, problem } = prepared;
    const execution = new Execution(deps, workflow, row, state, deadline, options.birth);
    execution.restored = events === undefined;
    execution.grants = options.grant ? [options.grant] : [];
    this.#active.set(row.id, execution);
    this.#renewals.later();
    if (problem) execution.parkForReview(await this.#deps.unrestorable(row, problem));
    else execution.detach(runBody(execution), "a run");
    if (options.died) limitRecovery(execution, settings.recovery.timeoutMs);
    const end = await execution.ended;
    if (end === "waiting") this.#parked(execution.writer.row, workflow);
    if (end === "stopped" && deps.queue.health.failing) this.#leftOff.set(row.id, row.claim.epoch);
    if (execution.rejection !== undefined) await this.#rejected(execution);
    this.#active.delete(row.id);
    // Nothing is left to renew, and the timer must not keep the process alive.
    if (this.#active.size === 0) this.#renewals.stop();
    if (row.parent && (end === "completed" || end === "failed" || end === "cancelled"))
      this.#detach(this.#take(execution.writer.row), "telling the family");
    this.#sweeper.freed();
    if (this.#deps.queues.freed(row) || this.#isRoomAgain(settings.concurrency))
      this.#detach(this.sweep(), "a sweep");
    return end;
  }

  #parked(row: RunRow, workflow: Workflow): void {
    this.#upgrades.parked(row, workflow);
    if (!this.#stopped && row.waiting.some(({ kind }) => kind === "limit")) this.#wakeUps.add(row.wakeAt);
  }

  /** True when runs were left for lack of room, and there is some now. The next regular sweep handles the rest. */
  #isRoomAgain(concurrency: number): boolean {
    return this.#room === Math.min(Math.ceil(concurrency / 10), 100);
  }

  /** Occupies room while it is being read. */
  async #prepare(row: RunRow, workflow: Workflow, options: ExecuteOptions): Promise<Prepared> {
    this.#loading.add(row.id);
    try {
      const loaded = await this.#load(row, options);
      return loaded ? await this.#upgrades.prepare(row, loaded, workflow) : "stopped";
    } finally {
      this.#loading.delete(row.id);
      this.#sweeper.freed();
    }
  }

  /** The run's state, or why it may not continue; `undefined` when the store didn't answer. */
  async #load(row: RunRow, { keyless }: ExecuteOptions): Promise<RunState | HoldfastError | undefined> {
    const { store, values, ports, time, engine } = this.#deps.execution;
    const read = this.#deps.justRead.take(row.id);
    try {
      const loaded = await restoreRun({ store, values, read }, row, this.#deps.settings.recovery, MOST_KEPT);
      const isForeign = loaded instanceof RunState && isUnaccepted(loaded.facts);
      return isForeign ? foreignProblem(row.id) : loaded;
    } catch (error) {
      ports.logger.warn("run could not be read", { runId: row.id, error: String(error) });
      if (!isKeyAway(error)) return undefined;
      const acted = await this.#deps.acts.write(row, waitForKey(row, error, time.now(), keyless));
      if (acted) engine.durable(acted.row, acted.events);
      return undefined;
    }
  }

  /**
   * True when there is memory for another run. When it gets short, active runs save snapshots to make a crash cheap.
   */
  hasMemory(): boolean {
    const { pressure, tell, execution } = this.#deps;
    const used = pressure.look();
    if (used === undefined) return !pressure.isHigh;
    const high = pressure.isHigh;
    execution.ports.logger.warn(high ? "memory is short" : "memory is free again", { used });
    tell({ type: "memory_pressure", at: this.#clock.now(), used, high });
    for (const one of high ? this.running : []) {
      one.snapshots.soon();
      markPressure(one);
    }
    return !high;
  }

  /**
   * Takes nothing new, lets calls in progress finish and releases the runs; after `drainMs` it stops, with 0 without
   * writing anything.
   */
  async stop(drainMs: number): Promise<void> {
    this.#stopped = true;
    this.#stopHearing?.();
    this.#sweeper.stop();
    this.#wakeUps.stop();
    this.#cancelSweep?.();
    const open = this.running;
    for (const execution of open) execution.drain();
    await this.#within(drainMs, [
      this.#sweeper.sweeping,
      ...this.#taking.values(),
      ...open.map(({ ended }) => ended),
    ]);
    if (drainMs > 0) await this.#handOver();
    // The store may be closed afterwards, so nothing may still be on its way to it.
    if (drainMs > 0) await this.#within(HAND_OVER_MS, [...this.#taking.values()]);
    for (const execution of this.running) execution.close("stopped");
    this.#renewals.stop();
  }

  /**
   * Calls that don't end in time are abandoned, and their runs record that, so that the next worker doesn't count a
   * crash. The claims are kept until they expire, because a call may still be acting.
   */
  async #handOver(): Promise<void> {
    const left = this.running;
    for (const execution of left) this.#leave(execution);
    await this.#within(
      HAND_OVER_MS,
      left.map(({ ended }) => ended),
    );
  }

  /** A run that is told to stop needs no record; that request may arrive while it is being left. */
  #leave(execution: Execution): void {
    if (execution.closed) return;
    if (execution.writer.row.control === "pausing") return execution.close("stopped");
    const event = { kind: "run_released", step: "", meta: {} } as const;
    const [onDurable, onOvertaken] = [() => execution.close("stopped"), () => this.#leave(execution)];
    execution.writer.record({ event, onDurable, onOvertaken });
  }

  /** Waits until all work has ended, or the time is up. */
  async #within(ms: number, work: readonly unknown[]): Promise<void> {
    let cancel = (): void => undefined;
    const limit = new Promise<void>((resolve) => {
      cancel = this.#clock.setTimer(resolve, ms);
    });
    await Promise.race([Promise.all(work), limit]);
    cancel();
  }
}
