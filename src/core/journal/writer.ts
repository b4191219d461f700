import { detached } from "../detached.ts";
import { ACT_PATIENCE_MS, type AppendSource, type CommitQueue, type CommitResult } from "../store/commit.ts";
import type { Append, Blob } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import type { Pen } from "./acts.ts";
import type { Birth } from "./birth.ts";
import { type Departing, type Departure, departure, stamped } from "./departure.ts";
import type { EventDraft, JournalEvent } from "./events.ts";
import { ChainCheck } from "./journal.ts";
import { Openings } from "./openings.ts";
import type { PendingEvent } from "./pending-event.ts";
import { entryPages } from "./read.ts";
import type { RunState } from "./state.ts";

export type Depart = (pending: PendingEvent[]) => Append;

/**
 * Why nothing more is written here: the claim is lost, the store stayed down, the store accepts others but not this
 * run, or an internal error.
 */
export type Stop = "fenced" | "lost" | "rejected" | "broken";

export interface WriterHooks {
  /** Called when events are durable, in order. */
  durable(events: readonly JournalEvent[]): void;
  /** Called when others wrote to this run: a signal, an answer, a pause. */
  outside(events: readonly JournalEvent[]): void;
  /** Called when this process may no longer write to the run. */
  stopped(reason: Stop, error: unknown): void;
  /** Called with events that couldn't be written. */
  unsaved(pending: readonly PendingEvent[]): void;
  /** Called when everything is durable and nothing is pending: the time for a snapshot. */
  quiet(): void;
}

export interface WriterDeps extends Departing {
  readonly queue: CommitQueue;
  readonly hooks: WriterHooks;
}

/** An append in progress, and what to do when it has landed. */
interface Flight extends Omit<Departure, "append"> {
  readonly pending: PendingEvent[];
  readonly sentAt: number;
}

/**
 * The owner's writer: collects a run's events and writes them, one append at a time, each proving the claim. When an
 * outside act came first, it reads that act, then writes what is still allowed.
 */
export class RunWriter implements AppendSource, Pen {
  row: RunRow;
  readonly state: RunState;
  /** The monotonic time until which the claim is surely held. */
  deadline: number;
  readonly #deps: WriterDeps;
  /** The number of its own landed appends and of events read from outside. */
  landed = 0;
  heard = 0;
  #pending: PendingEvent[] = [];
  /** Notes that are written with the next event. */
  #riders: PendingEvent[] = [];
  #held: PendingEvent[] = [];
  #flight: Flight | null = null;
  #catchingUp = false;
  #closed = false;
  /** True during an exclusive write. */
  #reserved = false;
  /** True while an outside act is written; the waiting ones follow. */
  #lent = false;
  #borrowers: (() => void)[] = [];
  #turns: Promise<unknown> = Promise.resolve();
  /** An outside event arrived while it couldn't be read. */
  #missed = false;
  #idlers: (() => void)[] = [];
  readonly #openings = new Openings();
  #landedAt = 0;
  /** Ends a pause that was left for other writers. */
  #endBreak: (() => void) | null = null;
  /** Set until the run is created. Nothing of it is in the store before that. */
  #birth: Birth | undefined;

  /** With `birth`, `row` and `state` are those after the creation, which this writer's first append contains. */
  constructor(deps: WriterDeps, row: RunRow, state: RunState, deadline: number, birth?: Birth) {
    this.#deps = deps;
    this.row = row;
    this.state = state;
    this.deadline = deadline;
    this.#birth = birth;
    if (!birth) return;
    this.#pending.push(...birth.pending);
    deps.queue.mark(this);
  }

  /** True until the store has the run. */
  get isUnborn(): boolean {
    return this.#birth !== undefined;
  }

  get idle(): boolean {
    return this.#pending.length === 0 && this.#flight === null && !this.#catchingUp && !this.#lent;
  }

  /** True when nothing is pending and no exclusive write is in progress: the known state is saved. */
  get calm(): boolean {
    return this.idle && !this.#reserved;
  }

  /** Events that aren't durable yet, in order. */
  get unwritten(): readonly PendingEvent[] {
    return [...(this.#flight?.pending ?? []), ...this.#pending, ...this.#riders];
  }

  /** How long the current append has taken. */
  get inFlightMs(): number {
    return this.#flight ? this.#deps.ports.clock.monotonic() - this.#flight.sentAt : 0;
  }

  /** True when events are held back because the run is told to stop. */
  get holdsBack(): boolean {
    return this.#held.length > 0;
  }

  record(pending: PendingEvent): void {
    if (this.#closed) return;
    if (this.#isHeld(pending)) {
      this.#held.push(pending);
      return;
    }
    this.#pending.push(pending);
    this.#deps.queue.mark(this);
    if (this.#deps.queue.health.failing) this.#goAhead();
  }

  /** True when it may not begin now. */
  #isHeld({ intent, undo }: PendingEvent): boolean {
    const { control } = this.row;
    return intent === true && control !== "none" && !(undo && control === "compensating");
  }

  /** Records a note that isn't urgent: it is written with pending events, or with the next one. */
  ride(event: EventDraft, blobs?: readonly Blob[]): void {
    if (this.#closed) return;
    const company = this.#pending.length > 0 ? this.#pending : this.#riders;
    // No event may follow the release.
    const last = company.findIndex(({ release }) => release);
    company.splice(last < 0 ? company.length : last, 0, blobs ? { event, blobs } : { event });
  }

  /** Called when the store fails: events that may begin unsaved begin, and their intents become records. */
  #goAhead(): void {
    if (!this.#deps.queue.options.ahead || this.row.control !== "none" || this.isUnborn) return;
    const { unwritten } = this;
    if (unwritten.length > MAX_UNWRITTEN) return;
    for (const one of unwritten) {
      const { onAhead } = one;
      if (!onAhead) continue;
      Object.assign(one, { intent: false, onOvertaken: undefined, onAhead: undefined });
      onAhead.call(one);
    }
  }

  failing(sinceMs: number): boolean {
    // Whoever starts a run waits no longer than for another act.
    if (this.isUnborn) return sinceMs < ACT_PATIENCE_MS;
    this.#goAhead();
    this.#callBorrowers();
    const { queue, ports } = this.#deps;
    if (this.#closed) return false;
    const since = this.#flight?.sentAt ?? ports.clock.monotonic();
    return queue.options.ahead || ports.clock.monotonic() - since < queue.options.patienceMs;
  }

  /** Removes events that aren't being written yet. */
  withdraw(matches: (pending: PendingEvent) => boolean): void {
    this.#pending = this.#pending.filter((one) => !matches(one));
  }

  /** Writes nothing more and drops pending events, except those of a run's creation, for which somebody waits. */
  close(): void {
    this.#closed = true;
    this.#endBreak?.();
    this.#callBorrowers();
    this.#pending = this.#flight ? [] : [...(this.#birth?.pending ?? [])];
    this.#riders = [];
    this.#held = [];
  }

  take(): Append | null {
    if (!this.#ready || this.#pending.length === 0 || this.#leavesBreak()) return null;
    const pending = this.#stillHolding();
    if (pending.length === 0) return null;
    this.#pending = [];
    // The release gives up the run: whatever hasn't begun doesn't begin.
    if (pending.some((one) => one.release)) {
      this.#pending = pending.filter((one) => one.intent);
      return this.#depart(pending.filter((one) => !one.intent));
    }
    return this.#depart(this.#riders.length === 0 ? pending : [...pending, ...this.#riders.splice(0)]);
  }

  /**
   * True when others should get a turn. A store that ends with this process has no other writers; and a release ends
   * the run here.
   */
  #leavesBreak(): boolean {
    const { store, ports } = this.#deps;
    const isAlone = store.capabilities.durability === "none";
    if (isAlone || this.#pending.some(({ release }) => release)) return false;
    const ms = this.#openings.due(ports.clock.monotonic(), this.#landedAt);
    if (ms === 0) return false;
    const cancel = ports.clock.setTimer(() => this.#break(null), ms);
    this.#break(cancel);
    return true;
  }

  #break(cancel: (() => void) | null): void {
    this.#endBreak = cancel;
    if (!cancel) this.#settled();
  }

  #stillHolding(): PendingEvent[] {
    if (!this.#pending.some(({ holds }) => holds)) return this.#pending;
    const [holding, overtaken]: [PendingEvent[], PendingEvent[]] = [[], []];
    for (const one of this.#pending) (one.holds?.() === false ? overtaken : holding).push(one);
    this.#pending = holding;
    for (const one of overtaken) one.onOvertaken?.();
    return holding;
  }

  get #ready(): boolean {
    return this.#flight === null && !this.#catchingUp && !this.#reserved && !this.#lent && !this.#endBreak;
  }

  /**
   * Lets `commit` write exclusively: nothing else of this run is written meanwhile. It receives `depart`, which builds
   * its append, and returns the store's verdict. A refused append isn't retried here.
   */
  exclusive(commit: (depart: Depart) => Promise<CommitResult>): Promise<CommitResult> {
    const turn = this.#turns.then(() => this.#alone(commit));
    this.#turns = turn.catch(() => undefined);
    return turn;
  }

  async borrow(): Promise<(() => void) | undefined> {
    const { health } = this.#deps.queue;
    while (this.#flight || this.#catchingUp || this.#lent) {
      // The act may be waiting for the transaction itself, and a failing store is the act's own problem.
      if (this.#closed || this.#reserved || health.failing) return undefined;
      await new Promise<void>((resolve) => this.#borrowers.push(resolve));
    }
    if (this.#closed || this.#reserved) return undefined;
    this.#lent = true;
    return () => {
      this.#lent = false;
      this.#settled();
    };
  }

  #callBorrowers(): void {
    for (const look of this.#borrowers.splice(0)) look();
  }

  /** Resolves when everything recorded so far is durable. */
  async whenIdle(): Promise<void> {
    while (!this.idle && !this.#closed) await new Promise<void>((resolve) => this.#idlers.push(resolve));
  }

  async #alone(commit: (depart: Depart) => Promise<CommitResult>): Promise<CommitResult> {
    // A paused or cancelled run is no longer told to stop, and this process must not continue it.
    while (!this.idle || this.row.control !== "none" || this.#closed)
      await new Promise<void>((resolve) => this.#idlers.push(resolve));
    this.#reserved = true;
    let result: CommitResult = { ok: false, reason: "lost", error: undefined };
    try {
      result = await commit((pending) => this.#depart(pending));
      if (result.ok) this.#deps.queue.health.saved();
      return result;
    } finally {
      this.#reserved = false;
      if (result.ok) this.settle(result);
      else this.#flight = null;
      if (!result.ok && result.reason === "conflict") await this.catchUp();
      else if (!result.ok && result.reason === "fenced") this.fence();
      if (this.#missed) this.hear();
      this.#settled();
    }
  }

  /** Wakes waiters for a quiet moment, and writes pending events. */
  #settled(): void {
    if (this.#pending.length > 0) this.#deps.queue.mark(this);
    for (const look of this.#idlers.splice(0)) look();
    this.#callBorrowers();
  }

  /** An internal failure: what is written stays, and this process does nothing more with the run. */
  broke(error: unknown): void {
    if (this.#birth) return this.#unborn(this.#birth, { ok: false, reason: "rejected", error });
    const flown = this.#flight?.pending ?? [];
    this.#flight = null;
    this.#stop("broken", error, flown);
  }

  /** Called when the claim is lost. */
  fence(): void {
    this.#stop("fenced", undefined);
  }

  #stop(reason: Stop, error: unknown, flown: readonly PendingEvent[] = []): void {
    const unsaved = [...flown, ...this.#pending];
    this.close();
    this.#deps.hooks.unsaved(unsaved);
    this.#deps.hooks.stopped(reason, error);
  }

  #depart(pending: PendingEvent[]): Append {
    const { append, events, entry, row } = departure(this.#deps, this.row, pending, this.#birth);
    this.#flight = { pending, events, entry, row, sentAt: this.#deps.ports.clock.monotonic() };
    return append;
  }

  settle(result: CommitResult): void {
    const flight = this.#flight;
    if (!flight) return;
    this.#flight = null;
    if (result.ok) return this.#landed(flight);
    if (this.#birth) return this.#unborn(this.#birth, result);
    if (this.#closed) return this.#deps.hooks.unsaved(flight.pending);
    if (result.reason === "conflict") {
      this.#pending = [...flight.pending, ...this.#pending];
      return this.hear();
    }
    if ("error" in result) this.#stop(result.reason, result.error, flight.pending);
    else this.#stop("fenced", undefined, flight.pending);
  }

  /** The run wasn't created, so nothing of it has happened. */
  #unborn(birth: Birth, result: CommitResult): void {
    this.#birth = undefined;
    this.#flight = null;
    if ("error" in result) this.#stop("lost", result.error);
    else this.#stop("fenced", undefined);
    birth.settle(result);
  }

  #landed(flight: Flight): void {
    const birth = this.#birth;
    this.#birth = undefined;
    this.row = flight.row;
    this.landed++;
    this.#landedAt = this.#deps.ports.clock.monotonic();
    this.deadline = flight.sentAt + this.#deps.ttlMs;
    for (const event of birth ? flight.events.slice(birth.pending.length) : flight.events)
      this.state.apply(lighten(event));
    const { head, data } = flight.entry;
    this.state.tailBytes += head.length + (data?.length ?? 0);
    this.#deps.hooks.durable(flight.events);
    if (this.#pending.length === 0 && !this.#closed) this.#deps.hooks.quiet();
    birth?.settle({ ok: true });
    if (birth) this.#born(flight);
    else flight.pending.forEach((one, index) => one.onDurable?.(flight.events[index] as JournalEvent));
    this.#settled();
  }

  /** The first calls of a run wait until whoever has started it could go on, and so knows its id. */
  #born({ pending, events }: Flight): void {
    const tell = (isIntent: boolean): void =>
      pending.forEach((one, index) => {
        if ((one.intent === true) === isIntent) one.onDurable?.(events[index] as JournalEvent);
      });
    tell(false);
    if (pending.some(({ intent }) => intent)) this.#deps.ports.clock.defer(() => tell(true));
  }

  /** Catches up without making the caller wait. */
  hear(): void {
    detached(this.catchUp(), this.#deps.ports.logger, "reading what others wrote", { runId: this.row.id });
  }

  /** Reads what others have written to the run since, and passes it to the execution. */
  async catchUp(): Promise<void> {
    if (this.#catchingUp || this.#closed || this.#flight || this.isUnborn) return;
    this.#missed = this.#reserved;
    if (this.#missed) return;
    this.#catchingUp = true;
    try {
      const { row, events } = await this.#deps.queue.read(this.row.id, () => this.#readNews());
      if (!row) return this.fence();
      this.row = row;
      this.heard += events.length;
      for (const event of events) this.state.apply(event);
      this.#holdIntents();
      this.#dropOvertaken(events);
      this.#catchingUp = false;
      if (events.length > 0) this.#deps.hooks.outside(events);
    } catch (error) {
      this.#stop("lost", error);
    } finally {
      this.#catchingUp = false;
      this.#settled();
    }
  }

  /** Intents wait while the run is told to stop, and are written if it is told to continue before that. */
  #holdIntents(): void {
    const [held, pending] = [this.#held.splice(0), this.#pending];
    this.#pending = [...pending, ...held].filter((one) => !this.#isHeld(one));
    this.#held = [...held, ...pending].filter((one) => this.#isHeld(one));
  }

  #dropOvertaken(events: readonly JournalEvent[]): void {
    const decided = new Set(events.map((event) => event.step));
    const isOvertaken = ({ onOvertaken, overtakenBy, event }: PendingEvent) =>
      onOvertaken !== undefined &&
      (decided.has(event.step) ||
        (event.kind === "snapshot_taken" && events.length > 0) ||
        (overtakenBy !== undefined && events.some(overtakenBy)));
    const overtaken = [...this.#pending, ...this.#held].filter(isOvertaken);
    this.withdraw(isOvertaken);
    this.#held = this.#held.filter((one) => !isOvertaken(one));
    for (const one of overtaken) one.onOvertaken?.();
  }

  /** The events written since; no row when the run is no longer ours. */
  async #readNews(): Promise<{ row: RunRow | null; events: readonly JournalEvent[] }> {
    const row = await this.#deps.store.read(this.row.id);
    const mine = this.row.claim;
    const isMine = row?.claim.token === mine.token && row?.claim.epoch === mine.epoch;
    return row && isMine ? { row, events: await this.#readSince(row) } : { row: null, events: [] };
  }

  async #readSince(row: RunRow): Promise<JournalEvent[]> {
    const chain = new ChainCheck(row.id, this.row.seq + 1, this.row.head);
    const events: JournalEvent[] = [];
    for await (const entries of entryPages(this.#deps.store, row.id, this.row.seq + 1, row.seq))
      for (const entry of entries) events.push(...chain.take(entry).events);
    chain.end(row.seq, row.head);
    return events;
  }
}

/** In a running run the body already has its outcomes, so the record keeps only their positions. */
function lighten(event: JournalEvent): JournalEvent {
  if (event.kind !== "step_completed" && event.kind !== "step_failed") return event;
  const { seq, at, epoch } = event;
  return stamped({ kind: event.kind, step: event.step, meta: event.meta } as EventDraft, seq, at, epoch);
}

/** The maximum number of unsaved events while a run continues without its store; then it waits. */
const MAX_UNWRITTEN = 1_000;
