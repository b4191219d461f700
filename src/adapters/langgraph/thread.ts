import { HoldfastError } from "../../core/errors.ts";
import type { OutsideThread, ThreadEvent } from "../../core/manage/outside/outside-thread.ts";
import { type RunRow, terminal } from "../../core/types.ts";
import { keyOf } from "../json-keys.ts";
import { type Stand, standing } from "../standing.ts";
import { type KeptState, keptOf, stateIn } from "./kept-state.ts";
import { loopOf } from "./names.ts";
import { Past } from "./past.ts";
import { type KeptWrites, placed, withValues } from "./same-writes.ts";
import {
  type DeltaHistory,
  type PreparedCheckpoint,
  stateOf,
  type TaskWrites,
  type ThreadState,
} from "./state.ts";
import { holdWhole, type KnownItems, stateChanges } from "./state-changes.ts";
import type { Item, Stored, StoredValues } from "./stored.ts";

/** Something to be written: a checkpoint, or what a task has written on top of one. */
export type Work =
  | { readonly checkpoint: PreparedCheckpoint }
  | {
      readonly namespace: string;
      readonly writes: Promise<TaskWrites>;
      readonly of: string;
      readonly task: string;
    };

interface Queued {
  readonly work: Work;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** The elements of the head's lists, while the head was written from here. */
interface Known {
  readonly id: string;
  readonly items: Map<string, readonly Item[]>;
}

/**
 * A thread in this process: writes to it one append at a time, with everything that has arrived meanwhile. A promise is
 * kept when its append is durable. When another process came first, what it wrote is read, and the append is built anew
 * on top of it.
 */
export class Thread {
  readonly id: string;
  readonly run: OutsideThread;
  readonly #values: StoredValues;
  readonly #workflow: string;
  #queue: Queued[] = [];
  #writing: Promise<void> | null = null;
  /** By namespace, as of the last checkpoint that was handed over here, written or not. */
  readonly #prepared = new Map<string, Map<string, readonly Item[]>>();
  readonly #known = new Map<string, Known>();
  /** How many appends ago the journal said where the thread stands. */
  #sinceStanding = 0;
  #wasThere = false;
  /** The state that was asked for last. */
  #read: { readonly kept: KeptState | ThreadState; readonly state: ThreadState } | undefined;
  /** Checkpoints that were written or read here. */
  readonly #ids = new Set<string>();

  constructor(id: string, run: OutsideThread, values: StoredValues, workflow: string) {
    this.id = id;
    this.#workflow = workflow;
    this.run = run;
    this.#values = values;
  }

  /** The elements that were handed over last. */
  itemsOf(namespace: string): Map<string, readonly Item[]> {
    let items = this.#prepared.get(namespace);
    if (!items) this.#prepared.set(namespace, (items = new Map()));
    return items;
  }

  get isIdle(): boolean {
    return this.#writing === null;
  }

  /** Resolves when the work is durable. */
  add(work: Work): Promise<void> {
    const added = new Promise<void>((done, failed) => this.#queue.push({ work, done, failed }));
    if (!this.#writing) this.#begin();
    return added;
  }

  #begin(): void {
    this.#writing = this.#write().finally(() => {
      this.#writing = null;
      if (this.#queue.length > 0) this.#begin();
    });
  }

  /** Reads the thread as it is, after everything that was handed over here. */
  async read(): Promise<RunRow | null> {
    await this.settled();
    return this.#refresh();
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  async #refresh(): Promise<RunRow | null> {
    const row = await this.run.refresh();
    if (row && row.workflow !== this.#workflow)
      throw new HoldfastError("HF-6181", { run: row.id, workflow: row.workflow });
    this.#wasThere ||= row !== null;
    return row;
  }

  head(namespace: string): ThreadState | undefined {
    const kept = this.kept(namespace);
    if (kept && kept !== this.#read?.kept) this.#read = { kept, state: stateIn(kept) };
    return kept && this.#read?.state;
  }

  /** The newest checkpoint of a namespace, as the journal holds it. */
  kept(namespace: string): KeptState | ThreadState | undefined {
    return this.run.loop(loopOf(namespace)) as KeptState | ThreadState | undefined;
  }

  /** What tasks have written on top of the newest checkpoint of a namespace. */
  async pending(namespace: string): Promise<readonly TaskWrites[]> {
    const head = this.head(namespace)?.checkpoint.id;
    const steps = await this.run.steps(loopOf(namespace));
    return steps
      .map(({ value, ahead }) => ({ ahead, writes: withValues(value as KeptWrites, undefined) }))
      .filter(({ ahead, writes }) => (writes.checkpoint ?? (ahead ? undefined : head)) === head)
      .map(({ writes }) => writes);
  }

  past(): Past {
    return new Past(this.run);
  }

  async #write(): Promise<void> {
    // What a task writes and the checkpoint after it usually arrive within one turn.
    await turn();
    while (this.#queue.length > 0) {
      const ready = this.#ready();
      if (ready.length === 0) await turn();
      const batch = ready.length > 0 ? ready : this.#ready().length > 0 ? this.#ready() : this.#queue;
      this.#queue = this.#queue.filter((queued) => !batch.includes(queued));
      try {
        await this.#writeBatch(batch);
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    await this.run.snapshotIfDue().catch(() => undefined);
  }

  /**
   * What can be written now. Writes on top of a checkpoint that hasn't been handed over yet wait for it, because they are
   * worth nothing without it.
   */
  #ready(): readonly Queued[] {
    const coming = new Set(
      this.#queue.flatMap(({ work }) => ("checkpoint" in work ? [work.checkpoint.id] : [])),
    );
    return this.#queue.filter(
      ({ work }) => "checkpoint" in work || coming.has(work.of) || this.#ids.has(work.of),
    );
  }

  /** Says that a checkpoint of this thread exists. */
  met(id: string): void {
    this.#ids.add(id);
  }

  async #writeBatch(batch: readonly Queued[]): Promise<void> {
    if (!this.run.row) await this.#open();
    for (;;) {
      this.#insist();
      const draft = new Draft(this, this.#values, this.#known);
      const taken: Queued[] = [];
      for (const queued of inOrder(batch)) {
        try {
          await draft.add(queued.work);
          taken.push(queued);
        } catch (error) {
          queued.failed(error);
        }
      }
      if (taken.length === 0) return;
      const row = this.run.row;
      const stand = standing(row, standOf(draft.outcome), this.#sinceStanding, this.run.now());
      if (await this.run.write([...stand.before, ...draft.events(), ...stand.after])) {
        this.#sinceStanding = stand.after.length > 0 ? 0 : this.#sinceStanding + 1;
        this.#wasThere = true;
        for (const [namespace, known] of draft.known) this.#known.set(namespace, known);
        for (const { work } of taken) if ("checkpoint" in work) this.#ids.add(work.checkpoint.id);
        return settle(taken, this.id, this.run.row);
      }
      await this.#refresh();
    }
  }

  async #open(): Promise<void> {
    const wasThere = this.#wasThere;
    const row = await this.#refresh();
    if (!row && wasThere) {
      this.#wasThere = false;
      throw new HoldfastError("HF-6187", { thread: this.id });
    }
  }

  #insist(): void {
    const { row } = this.run;
    if (row && terminal(row.status))
      throw new HoldfastError("HF-6185", { thread: this.id, status: row.status });
    if (!row && this.#wasThere) {
      this.#wasThere = false;
      throw new HoldfastError("HF-6187", { thread: this.id });
    }
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A paused thread keeps what it is given, and stops whoever has given a checkpoint. */
function settle(taken: readonly Queued[], thread: string, row: RunRow | null): void {
  for (const { work, done, failed } of taken)
    if (row?.status === "paused" && "checkpoint" in work) failed(new HoldfastError("HF-6184", { thread }));
    else done();
}

/** Writes on top of a checkpoint come after it, whichever was handed over first. */
function inOrder(batch: readonly Queued[]): Queued[] {
  const coming = new Set(batch.flatMap(({ work }) => ("checkpoint" in work ? [work.checkpoint.id] : [])));
  const later = batch.filter(({ work }) => "of" in work && coming.has(work.of));
  const ordered: Queued[] = [];
  for (const queued of batch) {
    if (later.includes(queued)) continue;
    ordered.push(queued);
    const { work } = queued;
    if ("checkpoint" in work)
      ordered.push(...later.filter((one) => "of" in one.work && one.work.of === work.checkpoint.id));
  }
  return ordered;
}

/** What a batch says about the thread as a whole. */
export interface Outcome {
  error?: string;
  interrupted?: boolean;
  hasCheckpoint: boolean;
}

/** A task's writes in an append in the making. */
interface Staged {
  readonly loop: string;
  readonly ahead: number;
  readonly name: string;
  readonly of: string;
  readonly writes: TaskWrites;
  readonly kept: KeptWrites;
  /** Made before their checkpoint is, which then knows which of its texts are stored apart. */
  events?: readonly ThreadEvent[];
}

/** One append in the making: what it makes of the states, and its events. */
class Draft {
  readonly #events: (ThreadEvent | Staged)[] = [];
  readonly known = new Map<string, Known>();
  readonly outcome: Outcome = { hasCheckpoint: false };
  readonly #thread: Thread;
  readonly #values: StoredValues;
  readonly #before: ReadonlyMap<string, Known>;
  readonly #heads = new Map<string, ThreadState>();
  readonly #kept = new Map<string, KeptState>();
  readonly #made = new Map<string, ThreadState>();
  readonly #advanced = new Map<string, number>();
  readonly #written: { readonly namespace: string; readonly of: string; readonly writes: TaskWrites }[] = [];
  readonly #steps = new Map<string, number>();

  constructor(thread: Thread, values: StoredValues, before: ReadonlyMap<string, Known>) {
    this.#thread = thread;
    this.#values = values;
    this.#before = before;
  }

  async add(work: Work): Promise<void> {
    if ("checkpoint" in work) await this.#checkpoint(work.checkpoint);
    else this.#writes(work.namespace, work.of, await work.writes);
  }

  #head(namespace: string): ThreadState | undefined {
    return this.#heads.get(namespace) ?? this.#thread.head(namespace);
  }

  async #checkpoint(checkpoint: PreparedCheckpoint): Promise<void> {
    const { namespace, fresh } = checkpoint;
    const loop = loopOf(namespace);
    const head = this.#head(namespace);
    const parent = await this.#parent(checkpoint, head);
    const delta = await this.#delta(checkpoint, parent);
    const state = await stateOf(
      checkpoint,
      (name, version) => this.#inherited(checkpoint, parent, name, version),
      delta,
    );
    const known = this.known.get(namespace) ?? this.#before.get(namespace);
    const items = known && known.id === head?.checkpoint.id ? known.items : undefined;
    const kept = keptOf(state);
    const last = this.#kept.get(namespace) ?? this.#thread.kept(namespace);
    const change = last ? { patches: stateChanges(last, kept, items, fresh) } : { state: kept };
    const before = this.#advanced.get(namespace) ?? 0;
    const isNext = head !== undefined && parent === head;
    if (isNext) this.#place(namespace, head, state);
    const isAgain =
      !isNext || state.delta !== undefined || !("patches" in change) || holdWhole(change.patches);
    this.#events.push(this.#thread.run.advance(loop, change, isAgain, before));
    this.#advanced.set(namespace, before + 1);
    this.#heads.set(namespace, state);
    this.#kept.set(namespace, kept);
    this.#made.set(`${namespace}\n${state.checkpoint.id}`, state);
    this.known.set(namespace, {
      id: state.checkpoint.id,
      items: itemsAfter(checkpoint, parent === head ? items : undefined),
    });
    this.outcome.hasCheckpoint = true;
  }

  /** The append's events. */
  events(): readonly ThreadEvent[] {
    return this.#events.flatMap((one) => ("event" in one ? [one] : (one.events ?? this.#eventsOf(one))));
  }

  #eventsOf({ loop, ahead, name, kept }: Staged): readonly ThreadEvent[] {
    return this.#thread.run.finished(loop, ahead, name, kept);
  }

  /** Writes of this append that the new state holds say only where. */
  #place(namespace: string, before: ThreadState, after: ThreadState): void {
    const loop = loopOf(namespace);
    for (const one of this.#events)
      if ("writes" in one && one.loop === loop && one.of === before.checkpoint.id)
        one.events = this.#eventsOf({ ...one, kept: placed(one.writes, before, after) });
  }

  async #parent(
    { parent, namespace }: PreparedCheckpoint,
    head: ThreadState | undefined,
  ): Promise<ThreadState | undefined> {
    if (parent === null) return undefined;
    if (head?.checkpoint.id === parent) return head;
    return this.#made.get(`${namespace}\n${parent}`) ?? this.#thread.past().find(namespace, parent);
  }

  /** The value of a channel without a new version: its parent's, or that of another checkpoint with the same version. */
  async #inherited(
    { namespace, given }: PreparedCheckpoint,
    parent: ThreadState | undefined,
    name: string,
    version: number | string,
  ): Promise<Stored | undefined> {
    const key = keyOf(name);
    if (parent?.versions[key] === version) return parent.values[key];
    if (!Object.hasOwn(given, name)) return undefined;
    const others = await this.#thread.past().versions(namespace, key, version);
    if (others.length < 2) return others[0];
    return this.#values.dump(given[name], `channel ${name}`);
  }

  async #delta(
    { delta, namespace }: PreparedCheckpoint,
    parent: ThreadState | undefined,
  ): Promise<ThreadState["delta"]> {
    if (delta.length === 0 || !parent) return undefined;
    const pending = (await this.#pending(namespace, parent)).toSorted(byTask);
    const found = delta.map((name): [string, DeltaHistory] => {
      const key = keyOf(name);
      const own = pending.flatMap(({ task, writes }) =>
        writes.flatMap(([, channel, value]) => (channel === name ? [[task, value] as const] : [])),
      );
      const seed = parent.values[key];
      const before = parent.delta?.[key];
      return [key, seed ? { seed, writes: own } : { ...before, writes: [...(before?.writes ?? []), ...own] }];
    });
    return Object.fromEntries(found);
  }

  async #pending(namespace: string, { checkpoint: { id } }: ThreadState): Promise<readonly TaskWrites[]> {
    const isHead = this.#thread.head(namespace)?.checkpoint.id === id;
    const before = isHead
      ? await this.#thread.pending(namespace)
      : await this.#thread.past().writes(namespace, id);
    const here = this.#written.filter((one) => one.namespace === namespace && one.of === id);
    return merged([...before, ...here.map(({ writes }) => writes)]);
  }

  /** A task's writes are a finished step of the iteration that follows their checkpoint. */
  #writes(namespace: string, of: string, written: TaskWrites): void {
    const loop = loopOf(namespace);
    const isHead = this.#head(namespace)?.checkpoint.id === of;
    const writes: TaskWrites = isHead ? written : { checkpoint: of, ...written };
    const advanced = this.#advanced.get(namespace) ?? 0;
    const ahead = advanced + (isHead ? 0 : 1);
    const place = `${loop} ${ahead}`;
    const stored = ahead <= 1 && advanced === 0 ? this.#thread.run.stepCount(loop, ahead === 0 ? 0 : 1) : 0;
    const count = (this.#steps.get(place) ?? stored) + 1;
    this.#steps.set(place, count);
    this.#events.push({ loop, ahead, name: stepName(writes, count), of, writes, kept: writes });
    this.#written.push({ namespace, of, writes });
    const channels = writes.writes.map(([, channel]) => channel);
    if (channels.includes("__interrupt__")) this.outcome.interrupted = true;
    if (channels.includes("__error__")) this.outcome.error = "A task of the graph has failed.";
  }
}

/** Unique within its iteration. */
function stepName({ writes }: TaskWrites, count: number): string {
  const special = writes.find(([, channel]) => channel === "__interrupt__" || channel === "__error__");
  return `${special ? special[1].replaceAll("_", "") : "task"} ${count}`;
}

const byTask = (a: TaskWrites, b: TaskWrites): number => (a.task < b.task ? -1 : a.task > b.task ? 1 : 0);

/**
 * The writes that count: of each task the first at each place; but an error, an interrupt or an answer (a place below
 * zero) is replaced by a later one.
 */
export function merged(all: readonly TaskWrites[]): readonly TaskWrites[] {
  const places = new Map<
    string,
    { readonly from: TaskWrites; readonly write: TaskWrites["writes"][number] }
  >();
  for (const from of all)
    for (const write of from.writes) {
      const place = `${from.task} ${write[0]}`;
      if (write[0] < 0 || !places.has(place)) places.set(place, { from, write });
    }
  return [...places.values()].map(({ from, write }) => ({ ...from, writes: [write] }));
}

/** The elements of the new state's lists that were saved from here. */
function itemsAfter(
  checkpoint: PreparedCheckpoint,
  before: KnownItems | undefined,
): Map<string, readonly Item[]> {
  const items = new Map(before);
  for (const name of checkpoint.newVersions) items.delete(name);
  for (const [name, value] of checkpoint.fresh) if ("items" in value) items.set(name, value.items);
  return items;
}

/** Nobody but the program that runs the graph can go on with it. */
function standOf({ error, interrupted }: Outcome): Stand {
  if (error !== undefined) return { error };
  if (!interrupted) return { waits: { kind: "signal", step: "invoke", names: ["invoke"] } };
  return {
    waits: { kind: "signal", step: "resume", names: ["resume"], detail: "The graph was interrupted." },
  };
}
