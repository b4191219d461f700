import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import type { RecordDraft } from "../records.ts";
import { claimAfter, UNCLAIMED } from "../store/claim.ts";
import type { CommitQueue, CommitResult } from "../store/commit.ts";
import type {
  Alone,
  Append,
  Blob,
  ClaimChange,
  Drop,
  Expected,
  Store,
  StoreCapabilities,
} from "../store/contract.ts";
import { isFileDamage } from "../store/faults.ts";
import type { StoreTime } from "../store/time.ts";
import { NO_TAGS } from "../tags.ts";
import type { RunIdentity, RunRow, RunTags } from "../types.ts";
import type { Redactor } from "../values/redact.ts";
import type { Birth } from "./birth.ts";
import { stamped } from "./departure.ts";
import { rawRow, readRun } from "./door.ts";
import type { EventDraft, JournalEvent } from "./events.ts";
import { buildEntry, dropped, innerBlobs } from "./journal.ts";
import { recordsOf } from "./placed-records.ts";
import { advanced, newProjection, projectRow } from "./project.ts";
import { rowOf } from "./row-copy.ts";
import { insistOn } from "./row-shape.ts";

/** A run to be created. Without tags it has none. */
export interface NewRun extends Omit<RunIdentity, keyof RunTags>, Partial<RunTags> {
  readonly version: string;
  readonly schema: number;
}

/** A run before its first entry. */
export function unwritten(run: NewRun, claim = UNCLAIMED): RunRow {
  const { id, workflow, lineage, parent, origin, createdAt, version, schema } = run;
  const {
    name = NO_TAGS.name,
    labels = NO_TAGS.labels,
    queue = NO_TAGS.queue,
    key = NO_TAGS.key,
    priority = NO_TAGS.priority,
  } = run;
  const identity = { id, workflow, lineage, parent, origin, createdAt, name, labels, queue, key, priority };
  return rowOf(identity, newProjection(createdAt, version, schema), { claim, seq: 0, head: "" });
}

export interface ActPlan {
  readonly events: readonly EventDraft[];
  readonly blobs?: readonly Blob[];
  readonly claim?: ClaimChange;
  readonly drop?: Drop;
  /** The record that shows the value of its mark. */
  readonly record?: RecordDraft;
  readonly actor?: string | undefined;
}

/** Decides what to write to the run in its current state; `null` for nothing. */
export type Decide = (row: RunRow) => Promise<ActPlan | null> | ActPlan | null;

export interface Acted {
  readonly row: RunRow;
  readonly events: readonly JournalEvent[];
}

/** The run because of which another one wasn't created. */
export interface InTheWay {
  readonly by: string;
}

/** The worker's handle for writing to the run it advances. */
export interface Pen {
  /**
   * Waits until no write is in progress, and holds back the worker's next one until the returned function is called. So
   * a run that writes continuously doesn't block others. `undefined` when waiting would be useless.
   */
  borrow(): Promise<(() => void) | undefined>;
}

/**
 * Writes to a run without owning it. Each act reads the run, decides, and appends on condition that nothing changed in
 * between; otherwise it reads and decides again. So of two simultaneous acts one sees the other. A damaged run accepts
 * none (HF-3010).
 */
export class Acts {
  readonly #store: Store;
  readonly #queue: CommitQueue;
  readonly #time: StoreTime;
  readonly #redactor: Redactor | undefined;
  /** The last unanswered act on each run. */
  readonly #turns = new Map<string, Promise<void>>();
  #pen: (runId: string) => Pen | undefined = () => undefined;

  constructor(store: Store, queue: CommitQueue, time: StoreTime, redactor?: Redactor) {
    this.#store = store;
    this.#queue = queue;
    this.#time = time;
    this.#redactor = redactor;
  }

  /** Sets the function that finds the `Pen` of a run advanced in this process. */
  lend(pen: (runId: string) => Pen | undefined): void {
    this.#pen = pen;
  }

  /** One act at a time per run, because simultaneous ones would only refuse each other. */
  act(runId: string, decide: Decide): Promise<Acted> {
    const before = this.#turns.get(runId);
    const acted = before ? before.then(() => this.#act(runId, decide)) : this.#act(runId, decide);
    const over = (): void => {
      if (this.#turns.get(runId) === turn) this.#turns.delete(runId);
    };
    const turn: Promise<void> = acted.then(over, over);
    this.#turns.set(runId, turn);
    return acted;
  }

  async #act(runId: string, decide: Decide): Promise<Acted> {
    for (let read = readRun; ; read = rawRow) {
      const putBack = await this.#pen(runId)?.borrow();
      try {
        const row = await read(this.#store, runId).catch((error: unknown) => {
          throw HoldfastError.is(error) ? error : this.#away(error);
        });
        if (!row) throw new HoldfastError("HF-1001", { run: runId });
        const plan = await decided(insistOn(row), decide);
        if (!plan) return { row, events: [] };
        const acted = await this.write(row, plan);
        if (acted) return acted;
      } finally {
        putBack?.();
      }
    }
  }

  /** Makes one conditional append to the run as it was read; returns `null` when it has moved since. */
  write(row: RunRow, plan: ActPlan): Promise<Acted | null> {
    return this.#append(row, plan, { seq: row.seq, epoch: row.claim.epoch, token: null });
  }

  /** Creates a run; returns `null` when the id is taken. */
  create(identity: NewRun, plan: ActPlan): Promise<Acted | null> {
    return this.#append(unwritten(identity), plan, null);
  }

  /** Prepares the creation of a run, for a worker that writes it. `born` resolves when the run is durable. */
  async expecting(
    identity: NewRun,
    plan: ActPlan,
  ): Promise<Birth & { readonly born: Promise<Acted | null> }> {
    await this.#store.prepare?.(identity.id, true);
    const claim = plan.claim as Birth["claim"];
    const at = this.#time.now();
    const before = unwritten(identity, claimAfter(UNCLAIMED, claim, at));
    const events = stampedEvents(before, plan.events, { at, epoch: before.claim.epoch }, this.#redactor);
    const row = advanced(before, events, before.head).row;
    const pending = plan.events.map((event) => ({ event }));
    let settle: Birth["settle"] = () => undefined;
    const answered = new Promise<CommitResult>((resolve) => {
      settle = resolve;
    });
    const born = answered.then((result) => (this.#taken(result) ? { row, events } : null));
    return { before, claim, at, pending, events, row, settle, born };
  }

  /** Creates a run unless another one is in its way, and says which. `null`: the id is taken. */
  async createAlone(identity: NewRun, plan: ActPlan, alone: Alone): Promise<Acted | InTheWay | null> {
    const { append, ...acted } = this.#build(unwritten(identity), plan, null);
    await this.#store.prepare?.(append.run.id, true);
    const result = await this.#queue.submit({ ...append, alone });
    if (!result.ok && "by" in result && result.by !== undefined) return { by: result.by };
    return this.#taken(result) ? acted : null;
  }

  /** Submits a prepared append; returns whether it was accepted. */
  async submit(append: Append): Promise<boolean> {
    const hasValues = append.blobs.length > 0 || append.entries.some(({ data }) => data !== null);
    if (hasValues) await this.#store.prepare?.(append.run.id, append.expect === null);
    return this.#taken(await this.#queue.submit(append));
  }

  async #append(row: RunRow, plan: ActPlan, expect: Expected | null): Promise<Acted | null> {
    // The value would never be dropped, because retention has finished with this run.
    if (row.prunedAt !== null && plan.events.some(({ data }) => data !== undefined))
      throw dropped(row.id, row.seq);
    const { append, ...acted } = this.#build(row, plan, expect);
    return (await this.submit(append)) ? acted : null;
  }

  #build(row: RunRow, plan: ActPlan, expect: Expected | null): BuiltAct {
    const { blinding, capabilities } = this.#store;
    const how = { at: this.#time.now(), blinding, capabilities, redactor: this.#redactor };
    return buildAct(row, plan, expect, how);
  }

  #taken(result: CommitResult): boolean {
    if ("error" in result) throw this.#away(result.error);
    return result.ok;
  }

  #away(error: unknown): HoldfastError {
    if (HoldfastError.is(error, "HF-3020") || isFileDamage(error)) return error;
    const ms = this.#queue.health.failingMs;
    return new HoldfastError("HF-3002", { message: String(error), ms }, { cause: error });
  }
}

/** Any error of an act on a run without values is reported as missing values. */
async function decided(row: RunRow, decide: Decide): Promise<ActPlan | null> {
  try {
    return await decide(row);
  } catch (error) {
    const isRefused = HoldfastError.is(error) && error.code.startsWith("HF-1");
    throw isRefused && row.prunedAt !== null ? dropped(row.id, row.seq) : error;
  }
}

/** The events as they are when they follow this row. */
const stampedEvents = (
  { seq }: RunRow,
  events: readonly EventDraft[],
  { at, epoch, actor }: Pick<JournalEvent, "at" | "epoch" | "actor">,
  redactor: Redactor | undefined,
): readonly JournalEvent[] =>
  events.map((event, index) => {
    const made = stamped(redactor ? redactor.event(event) : event, seq + 1 + index, at, epoch);
    return actor === undefined ? made : { ...made, actor };
  });

interface BuiltAct extends Acted {
  readonly append: Append;
}

/** Builds the append for a plan, and the run's row after it. */
export function buildAct(
  row: RunRow,
  plan: ActPlan,
  expect: Expected | null,
  {
    at,
    blinding,
    capabilities,
    redactor,
  }: {
    readonly at: number;
    readonly capabilities?: StoreCapabilities | undefined;
    readonly blinding?: string | undefined;
    readonly redactor?: Redactor | undefined;
  },
): BuiltAct {
  const claim = plan.claim ?? { kind: "keep" };
  // Expiry uses the store's clock; this is the closest estimate in this process.
  const after = claimAfter(row.claim, claim, at);
  const actor = plan.actor === undefined || !redactor ? plan.actor : redactor.text(plan.actor);
  const stamp = { at, epoch: after.epoch, ...defined({ actor }) };
  const events = stampedEvents(row, plan.events, stamp, redactor);
  const blobs = plan.blobs ?? [];
  const place = { ...stamp, prev: row.head, seq: row.seq + 1, run: row.id };
  // A snapshot points to blobs that earlier entries have named.
  const named = plan.events[0]?.kind === "snapshot_taken" ? [] : innerBlobs(plan.events, blobs);
  const { entry, head } = buildEntry(events, { ...place, blobs: named, blinding });
  const run = projectRow(row, events);
  const next = rowOf(row, run, { claim: after, seq: row.seq + events.length, head });
  const append = { run, expect, claim, entries: [entry], head, blobs, ...defined({ drop: plan.drop }) };
  const { record } = plan;
  const drafts = events.map(({ kind }) => (kind === "checkpoint_marked" ? { record } : {}));
  const records = capabilities ? recordsOf({ capabilities }, drafts, events) : {};
  return { append: { ...append, ...records }, row: next, events };
}
