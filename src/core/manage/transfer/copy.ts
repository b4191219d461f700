import { defined } from "../../defined.ts";
import { digest } from "../../hash.ts";
import { unwritten } from "../../journal/acts.ts";
import type { EventMeta, JournalEvent, Raw } from "../../journal/events.ts";
import { ChainCheck, damaged, dropped, valuesStart } from "../../journal/journal.ts";
import { projectRow } from "../../journal/project.ts";
import { entryPages } from "../../journal/read.ts";
import { rowOf } from "../../journal/row-copy.ts";
import type { RunState } from "../../journal/state.ts";
import { blobsIn } from "../../journal/values.ts";
import type { Entry, Store } from "../../store/contract.ts";
import { tagMeta } from "../../tags.ts";
import type { RunIdentity, RunRow } from "../../types.ts";

/** The beginning of a run, copied from another one. Nothing of it is written yet. */
export interface Copy {
  /** The new run after the copied entries. */
  readonly row: RunRow;
  readonly entries: readonly Entry[];
  /** By hash. */
  readonly blobs: ReadonlyMap<string, string>;
  readonly events: ReadonlyMap<number, JournalEvent>;
}

/**
 * Copies a journal up to a position: the same events at the same positions, with the same times and new hashes. Only
 * the first event names the new owner. What retention has dropped stays dropped.
 */
export async function copyJournal(
  store: Store,
  source: RunRow,
  upTo: number,
  to: RunIdentity,
): Promise<Copy> {
  const chain = new ChainCheck(source.id, 1, "");
  const needed = new Blobs(store, source.id);
  const entries: Entry[] = [];
  const events = new Map<number, JournalEvent>();
  let row = unwritten({ ...to, version: source.version, schema: source.schema });
  for await (const page of entryPages(store, source.id, 1, upTo)) {
    for (const entry of page) {
      const taken = chain.take(entry).events.filter(({ seq }) => seq <= upTo);
      const [first] = taken;
      if (first?.kind === "run_created")
        row = unwritten({ ...to, version: first.meta.version, schema: first.meta.schema ?? 1 });
      const inner = taken.length === entry.count ? undefined : await needed.within(taken);
      const copied = copyEntry(entry, taken.length, row.head, inner, to);
      entries.push(copied);
      needed.of(copied, taken);
      for (const event of taken) events.set(event.seq, event);
      row = rowOf(row, projectRow(row, taken), {
        claim: row.claim,
        seq: entry.seq + taken.length - 1,
        head: digest(copied.head),
      });
    }
  }
  if (row.seq !== upTo) throw damaged(source.id, row.seq + 1, "An entry is missing.");
  return { row, entries, blobs: await needed.read(), events };
}

/** The fields of an entry's head that a copy changes. */
interface Head {
  readonly p: string;
  readonly e: number;
  readonly d?: string;
  readonly b?: readonly string[];
  readonly m?: string;
  readonly v: readonly (readonly [kind: string, step: string, meta: unknown, value: number | string])[];
}

/**
 * The first `count` events of an entry, as an entry that follows `prev`. `inner`: the blobs inside their values, when
 * it is cut.
 */
function copyEntry(
  entry: Entry,
  count: number,
  prev: string,
  inner: ReadonlySet<string> | undefined,
  to: RunIdentity,
): Entry {
  // The mark was the source's.
  const { d, b, m: _, ...head } = JSON.parse(entry.head) as Head;
  const v = head.v
    .slice(0, count)
    .map((row) =>
      row[0] === "run_created" ? ([row[0], row[1], ownedBy(row[2], to), row[3]] as const) : row,
    );
  const length = v.reduce((sum, [, , , value]) => sum + (typeof value === "number" ? value : 0), 0);
  const start = entry.data === null ? 0 : valuesStart(entry.data, head);
  const data = length === 0 ? null : (entry.data?.slice(0, start + length) ?? null);
  // A blob that was only the value of a cut-off event is named nowhere else.
  const named = inner ? [...inner] : b;
  const text = JSON.stringify({
    ...head,
    p: prev,
    // This run has never been claimed.
    e: 0,
    ...(length === 0 ? {} : { d: inner && data !== null ? digest(data) : d }),
    ...(named && named.length > 0 ? { b: named } : {}),
    v,
  });
  return { seq: entry.seq, count, head: text, data };
}

function ownedBy(meta: unknown, to: RunIdentity): EventMeta["run_created"] {
  const { workflow, version, schema, seed, store } = meta as EventMeta["run_created"];
  const { lineage, parent, origin } = to;
  const kept = { workflow, version, lineage, ...defined({ schema, seed, store }) };
  return { ...kept, ...(parent ? { parent } : {}), ...(origin ? { origin } : {}), ...tagMeta(to) };
}

/** The blobs that copied entries point to, as far as they still exist. */
export class Blobs {
  readonly #store: Store;
  readonly #runId: string;
  readonly #hashes = new Set<string>();
  /** Values that name more blobs than their entries say. */
  readonly #snapshots: Raw[] = [];

  constructor(store: Store, runId: string) {
    this.#store = store;
    this.#runId = runId;
  }

  of(entry: Entry, events: readonly JournalEvent[]): void {
    const named = entry.head.includes('"b":[') ? (JSON.parse(entry.head) as Head).b : undefined;
    for (const hash of named ?? []) this.#hashes.add(hash);
    for (const { kind, data } of events) {
      if (typeof data === "object") this.#hashes.add(data.blob);
      if (kind === "snapshot_taken" && data !== undefined) this.#snapshots.push(data);
    }
  }

  /** The blobs named inside the values of these events. */
  async within(events: readonly JournalEvent[]): Promise<ReadonlySet<string>> {
    const values = events.flatMap(({ data }) => (data === undefined ? [] : [data]));
    const blobs = await this.#fetch(values.flatMap((raw) => (typeof raw === "string" ? [] : [raw.blob])));
    return new Set(values.flatMap((raw) => blobsIn(textOf(raw, blobs) ?? "")));
  }

  async read(): Promise<ReadonlyMap<string, string>> {
    const blobs = await this.#fetch([...this.#hashes]);
    const inSnapshots = this.#snapshots.flatMap((raw) => blobsIn(textOf(raw, blobs) ?? ""));
    const more = await this.#fetch(inSnapshots.filter((hash) => !blobs.has(hash)));
    return new Map([...blobs, ...more]);
  }

  async #fetch(hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    const all = [...new Set(hashes)];
    for (let at = 0; at < all.length; at += BATCH) {
      for (const [hash, data] of await this.#store.blobs(this.#runId, all.slice(at, at + BATCH))) {
        if (digest(data) !== hash) throw damaged(this.#runId, 0, `Blob ${hash} is changed.`);
        found.set(hash, data);
      }
    }
    return found;
  }
}

const BATCH = 500;

const textOf = (raw: Raw, blobs: ReadonlyMap<string, string>): string | undefined =>
  typeof raw === "string" ? raw : blobs.get(raw.blob);

/** Throws HF-1023 when a value is gone that a run in this state may still ask for. */
export function checkKept(runId: string, state: RunState, { events, blobs }: Copy): void {
  for (const { seq, data } of askedFor(state)) {
    const event = data === undefined ? events.get(seq) : undefined;
    const raw = data ?? event?.data;
    if (event?.dropped || (raw !== undefined && !isWhole(raw, blobs))) throw dropped(runId, seq);
  }
}

function isWhole(raw: Raw, blobs: ReadonlyMap<string, string>): boolean {
  const text = textOf(raw, blobs);
  return text !== undefined && blobsIn(text).every((hash) => blobs.has(hash));
}

function* askedFor(state: RunState): Generator<{ readonly seq: number; readonly data?: Raw | undefined }> {
  yield { seq: 1, data: state.input };
  if (state.facts.config) yield state.facts.config;
  const took = new Set<number>();
  for (const [, record] of state.steps()) {
    if (record.took !== undefined) took.add(record.took);
    if (record.status === "completed" || record.status === "failed") yield record;
  }
  for (const signal of state.signals) if (!signal.taken || took.has(signal.seq)) yield signal;
  for (const write of state.memory) yield write;
  for (const [, { seq, changes }] of state.loops()) for (const data of changes) yield { seq, data };
}
