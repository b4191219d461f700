import type { AppendSource, CommitQueue, CommitResult } from "./commit.ts";
import type { EventDraft, JournalEvent } from "./events.ts";
import { buildEntry, ChainCheck } from "./journal.ts";
import type { Ports } from "./ports.ts";
import { projectAll } from "./project.ts";
import type { RunState } from "./replay.ts";
import type { Append, Blob, ClaimChange, Store } from "./store.ts";
import type { StoreTime } from "./store-time.ts";
import type { RunRow } from "./types.ts";

export interface PendingEvent {
  readonly event: EventDraft;
  readonly blobs?: readonly Blob[];
  /** An intent is held back while the run is told to stop. */
  readonly intent?: boolean;
  /** The claim is given up with this event. */
  readonly release?: boolean;
  readonly onDurable?: (event: JournalEvent) => void;
  /** Given for an outcome that somebody else may decide first; called when they did, and then it is not written. */
  readonly onOvertaken?: () => void;
}

export type Depart = (pending: PendingEvent[]) => Append;

export interface WriterHooks {
  /** Events are durable, in order. */
  durable(events: readonly JournalEvent[]): void;
  /** Somebody else wrote to this run: a signal, an answer, a pause. */
  outside(events: readonly JournalEvent[]): void;
  /** This process may not write to the run any more: fenced, or the store stayed away. */
  stopped(reason: "fenced" | "lost", error: unknown): void;
  /** Events that were to be written and could not be. */
  unsaved(pending: readonly PendingEvent[]): void;
  /** Everything is durable and nothing is pending: the moment for a snapshot. */
  quiet(): void;
}

export interface WriterDeps {
  readonly store: Store;
  readonly queue: CommitQueue;
  readonly ports: Ports;
  readonly time: StoreTime;
  readonly hooks: WriterHooks;
  readonly ttlMs: number;
}

/** An append on its way, and what to do when it has landed. */
interface Flight {
  readonly pending: PendingEvent[];
  readonly events: JournalEvent[];
  readonly append: Append;
  readonly row: RunRow;
  readonly sentAt: number;
}

/**
 * The owner's pen: collects a run's events and writes them, one append at a time, each proving the claim. When
 * an act from outside got in between, it reads that first, then writes what is still allowed.
 */
export class RunWriter implements AppendSource {
  row: RunRow;
  readonly state: RunState;
  /** Monotonic time until which the claim is surely held. */
  deadline: number;
  readonly #deps: WriterDeps;
  #pending: PendingEvent[] = [];
  #held: PendingEvent[] = [];
  #flight: Flight | null = null;
  #catchingUp = false;
  #closed = false;
  /** Somebody writes by itself. */
  #reserved = false;
  #turns: Promise<unknown> = Promise.resolve();
  /** Something came from outside while it could not be read. */
  #missed = false;
  #idlers: (() => void)[] = [];

  constructor(deps: WriterDeps, row: RunRow, state: RunState, deadline: number) {
    this.#deps = deps;
    this.row = row;
    this.state = state;
    this.deadline = deadline;
  }

  get idle(): boolean {
    return this.#pending.length === 0 && this.#flight === null && !this.#catchingUp;
  }

  /** Whether something may not be written because the run is told to stop. */
  get holdsBack(): boolean {
    return this.#held.length > 0;
  }

  record(pending: PendingEvent): void {
    if (this.#closed) return;
    if (pending.intent && this.row.control !== "none") {
      this.#held.push(pending);
      return;
    }
    this.#pending.push(pending);
    this.#deps.queue.mark(this);
  }

  /** Takes back events that are not on their way yet. */
  withdraw(matches: (pending: PendingEvent) => boolean): void {
    this.#pending = this.#pending.filter((one) => !matches(one));
  }

  /** Writes nothing more; what is pending is dropped. */
  close(): void {
    this.#closed = true;
    this.#pending = [];
    this.#held = [];
  }

  take(): Append | null {
    if (!this.#ready || this.#pending.length === 0) return null;
    const pending = this.#pending;
    this.#pending = [];
    return this.#depart(pending);
  }

  get #ready(): boolean {
    return this.#flight === null && !this.#catchingUp && !this.#reserved;
  }

  /**
   * Lets `commit` write by itself, with the pen in hand: nothing else of this run is written meanwhile. It is given `depart`,
   * which builds its append; it answers the store's verdict. A refused append is not tried again here.
   */
  exclusive(commit: (depart: Depart) => Promise<CommitResult>): Promise<CommitResult> {
    const turn = this.#turns.then(() => this.#alone(commit));
    this.#turns = turn.catch(() => undefined);
    return turn;
  }

  /** Answers when everything recorded so far is durable. */
  async whenIdle(): Promise<void> {
    while (!this.idle && !this.#closed) await new Promise<void>((resolve) => this.#idlers.push(resolve));
  }

  async #alone(commit: (depart: Depart) => Promise<CommitResult>): Promise<CommitResult> {
    while (!this.idle || this.row.control !== "none")
      await new Promise<void>((resolve) => this.#idlers.push(resolve));
    this.#reserved = true;
    let result: CommitResult = { ok: false, reason: "lost", error: undefined };
    try {
      result = await commit((pending) => this.#depart(pending));
      return result;
    } finally {
      this.#reserved = false;
      if (result.ok) this.settle(result);
      else this.#flight = null;
      if (!result.ok && result.reason === "conflict") await this.catchUp();
      else if (!result.ok && result.reason === "fenced") this.fence();
      if (this.#missed) void this.catchUp();
      this.#settled();
    }
  }

  /** What waits for a quiet moment looks again, and what is pending goes out. */
  #settled(): void {
    if (this.#pending.length > 0) this.#deps.queue.mark(this);
    for (const look of this.#idlers.splice(0)) look();
  }

  /** The claim is not ours any more. */
  fence(): void {
    this.#stop("fenced", undefined);
  }

  #stop(reason: "fenced" | "lost", error: unknown, flown: readonly PendingEvent[] = []): void {
    const unsaved = [...flown, ...this.#pending];
    this.close();
    this.#deps.hooks.unsaved(unsaved);
    this.#deps.hooks.stopped(reason, error);
  }

  #depart(pending: PendingEvent[]): Append {
    const at = this.#deps.time.now();
    const { epoch, token } = this.row.claim;
    const events = pending.map(({ event }, index) => stamped(event, this.row.seq + 1 + index, at, epoch));
    const blobs = distinctBlobs(pending);
    const { entry, head } = buildEntry(events, {
      prev: this.row.head,
      seq: this.row.seq + 1,
      at,
      epoch,
      blobs: innerBlobs(pending),
    });
    const hasParent = this.row.parent !== null;
    const run = projectAll(this.row, events, hasParent);
    const claim: ClaimChange = pending.some((one) => one.release)
      ? { kind: "release" }
      : { kind: "hold", ttlMs: this.#deps.ttlMs };
    const expect = { seq: this.row.seq, epoch, token };
    const append: Append = { run, expect, claim, entry, head, blobs };
    const row = { ...run, seq: this.row.seq + events.length, head };
    this.#flight = { pending, events, append, row, sentAt: this.#deps.ports.clock.monotonic() };
    return append;
  }

  settle(result: CommitResult): void {
    const flight = this.#flight;
    if (!flight) return;
    this.#flight = null;
    if (result.ok) return this.#landed(flight);
    if (this.#closed) return this.#deps.hooks.unsaved(flight.pending);
    if (result.reason === "conflict") {
      this.#pending = [...flight.pending, ...this.#pending];
      void this.catchUp();
      return;
    }
    const lost = result.reason === "lost";
    this.#stop(lost ? "lost" : "fenced", lost ? result.error : undefined, flight.pending);
  }

  #landed(flight: Flight): void {
    this.row = flight.row;
    this.deadline = flight.sentAt + this.#deps.ttlMs;
    for (const event of flight.events) this.state.apply(lighten(event));
    const { head, data } = flight.append.entry;
    this.state.tailBytes += head.length + (data?.length ?? 0);
    this.#deps.hooks.durable(flight.events);
    if (this.#pending.length === 0 && !this.#closed) this.#deps.hooks.quiet();
    flight.pending.forEach((one, index) => one.onDurable?.(flight.events[index] as JournalEvent));
    this.#settled();
  }

  /** Reads what others have written to the run since, and hands it to the execution. */
  async catchUp(): Promise<void> {
    if (this.#catchingUp || this.#closed || this.#flight) return;
    this.#missed = this.#reserved;
    if (this.#missed) return;
    this.#catchingUp = true;
    try {
      const row = await this.#deps.store.read(this.row.id);
      const mine = this.row.claim;
      if (!row || row.claim.token !== mine.token || row.claim.epoch !== mine.epoch) {
        this.fence();
        return;
      }
      const events = await this.#readSince(row);
      this.row = row;
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

  /** Intents wait while the run is told to stop, and go out after all if it is told to go on before it has. */
  #holdIntents(): void {
    if (this.row.control === "none") {
      this.#pending.push(...this.#held.splice(0));
      return;
    }
    this.#held.push(...this.#pending.filter((one) => one.intent));
    this.withdraw((one) => one.intent ?? false);
  }

  #dropOvertaken(events: readonly JournalEvent[]): void {
    const decided = new Set(events.map((event) => event.step));
    const isOvertaken = (one: PendingEvent) => one.onOvertaken !== undefined && decided.has(one.event.step);
    const overtaken = [...this.#pending, ...this.#held].filter(isOvertaken);
    this.withdraw(isOvertaken);
    this.#held = this.#held.filter((one) => !isOvertaken(one));
    for (const one of overtaken) one.onOvertaken?.();
  }

  async #readSince(row: RunRow): Promise<JournalEvent[]> {
    const chain = new ChainCheck(row.id, this.row.seq + 1, this.row.head);
    const events: JournalEvent[] = [];
    for (let next = this.row.seq + 1; next <= row.seq; ) {
      const entries = await this.#deps.store.entries(row.id, { from: next, limit: 100 });
      for (const entry of entries) if (entry.seq <= row.seq) events.push(...chain.take(entry).events);
      next = (events.at(-1)?.seq ?? row.seq) + 1;
    }
    chain.end(row.seq, row.head);
    return events;
  }
}

/** Field by field: on the hot path, a spread of a union costs several times as much. */
function stamped(
  { kind, step, meta, data }: EventDraft,
  seq: number,
  at: number,
  epoch: number,
): JournalEvent {
  return { kind, step, meta, data, seq, at, epoch } as JournalEvent;
}

/** In a living run the body already has its outcomes; the record keeps only where they are. */
function lighten(event: JournalEvent): JournalEvent {
  if (event.kind !== "step_completed" && event.kind !== "step_failed") return event;
  const { seq, at, epoch } = event;
  return stamped({ kind: event.kind, step: event.step, meta: event.meta } as EventDraft, seq, at, epoch);
}

const NO_BLOBS: readonly Blob[] = [];

function distinctBlobs(pending: readonly PendingEvent[]): readonly Blob[] {
  const all = pending.flatMap((one) => one.blobs ?? NO_BLOBS);
  return all.length < 2 ? all : [...new Map(all.map((blob) => [blob.hash, blob])).values()];
}

/**
 * Blobs that values of this entry point into: what must be kept for it besides the values themselves. A snapshot points to
 * what earlier entries have named already, and is read itself where that matters.
 */
function innerBlobs(pending: readonly PendingEvent[]): readonly string[] {
  const hashes = new Set<string>();
  for (const { event, blobs } of pending) {
    if (!blobs || event.kind === "snapshot_taken") continue;
    const own = typeof event.data === "object" ? event.data.blob : undefined;
    for (const { hash } of blobs) if (hash !== own) hashes.add(hash);
  }
  return [...hashes];
}
