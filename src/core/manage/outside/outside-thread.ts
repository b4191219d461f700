import { fingerprint } from "../../hash.ts";
import type { NewRun } from "../../journal/acts.ts";
import { rawRow } from "../../journal/door.ts";
import type { EventDraft, JournalEvent, Raw } from "../../journal/events.ts";
import { JOURNAL_FORMAT } from "../../journal/format.ts";
import { ChainCheck } from "../../journal/journal.ts";
import { loadRun } from "../../journal/load.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { entryPages } from "../../journal/read.ts";
import type { LoopRecord } from "../../journal/records.ts";
import { projectionOf } from "../../journal/row-copy.ts";
import { insistOn } from "../../journal/row-shape.ts";
import { takeSnapshot } from "../../journal/snapshot.ts";
import { RunState } from "../../journal/state.ts";
import { type Advance, loopState, patching } from "../../journal/state-view.ts";
import { blobsIn, type Encoded } from "../../journal/values.ts";
import { memberName, prefixOf } from "../../keys.ts";
import type { Blob } from "../../store/contract.ts";
import { tagMeta, tagsIn } from "../../tags.ts";
import type { RunRow } from "../../types.ts";
import { type ThreadMoment, threadHistory } from "./thread-history.ts";

type ApplyPatches = Awaited<ReturnType<typeof patching>>["applyPatches"];

/** What a thread is created with, by its first write. */
export interface ThreadOpening {
  readonly workflow: string;
  readonly version: string;
  readonly input: unknown;
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** One event of a write, with its value. */
export interface ThreadEvent {
  readonly event: EventDraft;
  readonly encoded?: Encoded;
}

/** A finished step of the iteration under way, or of the one after it. */
export interface ThreadStep {
  readonly value: unknown;
  /** True for a step of the iteration after it. */
  readonly ahead: boolean;
}

/**
 * The journal after the last snapshot may be this long before the next one is taken, and so many times as long as the state
 * with all its texts. So what only grows is never written a second time.
 */
const MIN_TAIL_BYTES = 4_194_304;
const TAIL_FACTOR = 4;
const EVENT_BYTES = 200;
/** A shorter text that is written once stays in its entry: apart, it would cost 250 bytes more. */
const APART_LENGTH = 4_096;
/** How many texts are remembered that are stored apart. */
const MOST_APART = 1_000;

/**
 * A run whose loops are advanced by a program outside, and the state that it has reached here. It is an ordinary run:
 * each advance is an iteration with its changes, what is recorded in between are the finished steps of the iteration
 * under way. Every write names the position that it builds on, so of two programs one reads what the other has written
 * before it writes.
 */
export class OutsideThread {
  readonly runId: string;
  readonly #parts: EngineParts;
  readonly #opening: ThreadOpening;
  #row: RunRow | null = null;
  #state = new RunState();
  /** The length of the state with its texts, when it was last asked for. */
  #stateBytes = 0;
  /** Texts that were stored apart from here. */
  readonly #apart = new Set<string>();

  constructor(parts: EngineParts, runId: string, opening: ThreadOpening) {
    this.#parts = parts;
    this.runId = runId;
    this.#opening = opening;
  }

  /** The run as it was last read or written; `null` when there is none. */
  get row(): RunRow | null {
    return this.#row;
  }

  now(): number {
    return this.#parts.time.now();
  }

  /** Reads what others have written since. Throws HF-3010 when the journal doesn't verify. */
  async refresh(): Promise<RunRow | null> {
    const { store } = this.#parts;
    await store.identity();
    const row = await rawRow(store, this.runId);
    const known = this.#row;
    if (!row) [this.#row, this.#state] = [null, new RunState()];
    else if (!known || !isLater(insistOn(row), known)) await this.#load(insistOn(row));
    else if (row.seq > known.seq) await this.#catchUp(row, known);
    else this.#row = row;
    return this.#row;
  }

  async #load(row: RunRow): Promise<void> {
    const { store, values, time } = this.#parts;
    await time.read();
    this.#state = await loadRun(store, values, row);
    await this.#settleLoops();
    this.#row = row;
  }

  async #catchUp(row: RunRow, known: RunRow): Promise<void> {
    const chain = new ChainCheck(row.id, known.seq + 1, known.head);
    const events: JournalEvent[] = [];
    for await (const page of entryPages(this.#parts.store, row.id, known.seq + 1, row.seq))
      for (const entry of page) {
        events.push(...chain.take(entry).events);
        this.#state.tailBytes += entry.head.length + (entry.data?.length ?? 0);
      }
    chain.end(row.seq, row.head);
    // From here on nothing fails but the decoding of values, after which everything is read again.
    this.#row = null;
    for (const event of events) this.#state.apply(event);
    await this.#settleLoops();
    this.#row = row;
  }

  async #settleLoops(): Promise<void> {
    const { values } = this.#parts;
    for (const [, loop] of this.#state.loops()) {
      if (loop.changes.length === 0) continue;
      await values.fetchAhead(this.runId, loop.changes.flatMap(blobsOf));
      const value = await loopState(values, this.runId, loop);
      Object.assign(loop, { state: { value }, changes: [] });
    }
    await values.fetchAhead(this.runId, []);
  }

  /** The names of the loops that have been advanced. */
  get loops(): readonly string[] {
    return [...this.#state.loops()].filter(([, { iteration }]) => iteration > 0).map(([key]) => key);
  }

  /** The state of a loop after its last iteration; `undefined` before the first. */
  loop(key: string): object | undefined {
    return this.#record(key)?.state?.value as object | undefined;
  }

  #record(key: string): LoopRecord | undefined {
    return this.#state.root.loops.get(key);
  }

  /** The finished steps of the iteration under way, and of the one after it. */
  async steps(key: string): Promise<readonly ThreadStep[]> {
    const next = this.#record(key)?.iteration ?? 0;
    const found = [false, true].flatMap((ahead) => {
      const scope = this.#state.root.scopes.get(memberName(key, ahead ? next + 1 : next));
      return [...(scope?.records.values() ?? [])].map((record) => ({ record, ahead }));
    });
    const { values } = this.#parts;
    await values.fetchAhead(
      this.runId,
      found.flatMap(({ record: { data } }) => (data === undefined ? [] : blobsOf(data))),
    );
    const steps: ThreadStep[] = [];
    for (const { record, ahead } of found) steps.push({ value: await values.of(this.runId, record), ahead });
    await values.fetchAhead(this.runId, []);
    return steps;
  }

  /** Everything that is recorded, oldest first. */
  history(): AsyncGenerator<ThreadMoment> {
    return this.#row ? threadHistory(this.#parts, this.#row) : nothing();
  }

  /** How many steps the iteration under way has, or the one after it. */
  stepCount(key: string, ahead: 0 | 1): number {
    const next = (this.#record(key)?.iteration ?? 0) + ahead;
    return this.#state.root.scopes.get(memberName(key, next))?.records.size ?? 0;
  }

  /**
   * The next iteration of a loop: its complete state the first time, afterwards the changes. `isAgain`: what is in them may
   * be written again.
   */
  advance(key: string, change: Advance, isAgain: boolean, done = 0): ThreadEvent {
    const encoded = this.#parts.values.encode(key, change, (text) => this.#isApart(text, isAgain));
    const iteration = (this.#record(key)?.iteration ?? 0) + done;
    return {
      event: { kind: "loop_advanced", step: key, meta: { iteration }, data: encoded.data },
      encoded,
    };
  }

  /** Tells whether a text is stored once, apart from the entry. */
  #isApart(text: string, isAgain: boolean): boolean {
    if (!isAgain && text.length < APART_LENGTH) return this.#apart.has(text);
    if (this.#apart.size >= MOST_APART) this.#apart.clear();
    this.#apart.add(text);
    return true;
  }

  /** A finished step of the iteration that is `ahead` of the last finished one. The next iteration may hold what it says. */
  finished(key: string, ahead: number, name: string, value: unknown): readonly ThreadEvent[] {
    const index = (this.#record(key)?.iteration ?? 0) + ahead;
    const step = prefixOf(memberName(key, index)) + name;
    const encoded = this.#parts.values.encode(step, value, (text) => this.#isApart(text, true));
    return [
      {
        event: {
          kind: "step_started",
          step,
          meta: { type: "call", effect: "repeatable", attempt: 1, call: 1 },
        },
      },
      { event: { kind: "step_completed", step, meta: {}, data: encoded.data }, encoded },
    ];
  }

  /** Writes in one append, and creates the run with the first. `false`: others came first; refresh, and decide again. */
  async write(written: readonly ThreadEvent[]): Promise<boolean> {
    const { acts } = this.#parts;
    const { applyPatches } = await patching();
    const drafts = written.map(({ event }) => event);
    const blobs = distinct(written.flatMap(({ encoded }) => encoded?.blobs ?? []));
    const row = this.#row;
    const acted = row
      ? await acts.write(row, { events: drafts, blobs })
      : await this.#create({ events: drafts, blobs });
    if (!acted) return false;
    const own = acted.events.slice(acted.events.length - written.length);
    for (const event of acted.events.slice(0, -written.length)) this.#state.apply(event);
    for (const [index, event] of own.entries()) this.#took(event, written[index]?.encoded, applyPatches);
    this.#row = acted.row;
    this.#parts.written(acted.row, acted.events);
    return true;
  }

  async #create(plan: { readonly events: readonly EventDraft[]; readonly blobs: readonly Blob[] }) {
    const { acts, values, ports, time, store } = this.#parts;
    const { incarnation } = await store.identity();
    await time.read();
    const { workflow, version, input, name, labels } = this.#opening;
    const tags = tagsIn({
      ...(name === undefined ? {} : { name }),
      ...(labels === undefined ? {} : { labels }),
    });
    const encoded = values.encode("input", input);
    const kin = { lineage: this.runId, seed: ports.ids.id(), store: fingerprint(incarnation) };
    const meta = { workflow, version, schema: 1, ...kin, ...tagMeta(tags) };
    const created: EventDraft = { kind: "run_created", step: "", meta, data: encoded.data };
    const identity: NewRun = {
      id: this.runId,
      workflow,
      version,
      schema: 1,
      lineage: this.runId,
      parent: null,
      origin: null,
      createdAt: time.now(),
      ...tags,
    };
    return acts.create(identity, {
      events: [created, ...plan.events],
      blobs: [...encoded.blobs, ...plan.blobs],
    });
  }

  /** Applies an own event. A loop's state becomes what a reader of the journal would see. */
  #took(event: JournalEvent, encoded: Encoded | undefined, applyPatches: ApplyPatches): void {
    this.#state.tailBytes += EVENT_BYTES + (typeof event.data === "string" ? event.data.length : 0);
    if (event.kind !== "loop_advanced" || !encoded) return this.#state.apply(event);
    const loop = this.#state.loop(event.step);
    loop.live = true;
    this.#state.apply(event);
    loop.live = false;
    const change = this.#parts.values.echo(encoded) as Advance;
    const value =
      "state" in change ? change.state : applyPatches(loop.state?.value as object, change.patches);
    loop.state = { value };
  }

  /** Saves the complete state when the journal since the last time outweighs it. */
  async snapshotIfDue(): Promise<void> {
    const state = this.#state;
    const row = this.#row;
    if (!row || state.tailBytes < Math.max(MIN_TAIL_BYTES, TAIL_FACTOR * this.#stateBytes)) return;
    const snapshot = takeSnapshot(state);
    if (!snapshot) return;
    const { values, acts } = this.#parts;
    const encoded = values.encode("snapshot", { ...snapshot, row: projectionOf(row) }, true);
    this.#stateBytes = encoded.blobs.reduce((sum, { data }) => sum + data.length, encoded.text.length);
    if (state.tailBytes < TAIL_FACTOR * this.#stateBytes) return;
    const own = typeof encoded.data === "string" ? values.blob(encoded.text) : undefined;
    const meta = { previous: row.snapshotSeq, format: JOURNAL_FORMAT };
    const data = own ? { blob: own.hash } : encoded.data;
    const acted = await acts.write(row, {
      events: [{ kind: "snapshot_taken", step: "", meta, data }],
      blobs: own ? [...encoded.blobs, own] : encoded.blobs,
    });
    if (!acted) return;
    Object.assign(state, { tailBytes: 0, snapshotBytes: encoded.text.length });
    for (const event of acted.events) state.apply(event);
    this.#row = acted.row;
    this.#parts.written(acted.row, acted.events);
  }
}

const blobsOf = (raw: Raw): readonly string[] => (typeof raw === "string" ? blobsIn(raw) : [raw.blob]);

/** True when `row` is the same run as `known`, at the same position or a later one. */
const isLater = (row: RunRow, known: RunRow): boolean =>
  row.createdAt === known.createdAt &&
  (row.seq > known.seq || (row.seq === known.seq && row.head === known.head));

async function* nothing(): AsyncGenerator<never> {}

function distinct(blobs: readonly Blob[]): readonly Blob[] {
  return blobs.length < 2 ? blobs : [...new Map(blobs.map((blob) => [blob.hash, blob])).values()];
}
