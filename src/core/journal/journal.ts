import { Chain, dataProblem } from "../audit/proof/chain.ts";
import { HoldfastError } from "../errors.ts";
import { digest } from "../hash.ts";
import type { Blob, Entry } from "../store/contract.ts";
import { blinded, looksBlinded, MARK_LENGTH, PACKED, UNREADABLE } from "../values/blind.ts";
import type { EventDraft, JournalEvent, Raw, StepStarted } from "./events.ts";
import { marked } from "./head-mark.ts";

/**
 * The journal's format. An entry's head is one line of JSON, hashed exactly as stored:
 *
 *   p  hash of the entry before ("" for the first)    t  time    e  epoch    a  actor, when a person acted
 *   d  digest of the entry's data                      b  hashes of the blobs its values point into
 *   m  in an encrypted store: the mark of whoever has its key, over all the rest
 *   v  the events: [kind, step, meta, value]; value = length within data, or the hash of a blob, or 0
 *
 * The values are at the end of the data; in an encrypted store a mark that blinds the digest precedes them.
 *
 * Each head names the hash of the previous one, and the run row names the last, so a change anywhere breaks the chain.
 * Retention can drop data without touching a head.
 */
interface Head {
  readonly p: string;
  readonly t: number;
  readonly e: number;
  readonly a?: string;
  readonly d?: string;
  readonly b?: readonly string[];
  readonly v: readonly (readonly [string, string, unknown, number | string])[];
}

export interface EntryContext {
  readonly prev: string;
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly actor?: string | undefined;
  readonly blobs?: readonly string[];
  /** The store's secret, if any, with which heads are marked. */
  readonly blinding?: string | undefined;
  /** The run's id, part of the mark. Without it, no mark matches. */
  readonly run?: string;
}

/** Builds the entry for `events`, and the hash for the run row. */
export function buildEntry(
  events: readonly EventDraft[],
  context: EntryContext,
): { entry: Entry; head: string } {
  let data = "";
  const rows: [string, string, unknown, number | string][] = [];
  for (const event of events) {
    let value: number | string = 0;
    if (typeof event.data === "string") {
      data += event.data;
      value = event.data.length;
    } else if (event.data) {
      value = event.data.blob;
    }
    rows.push([
      event.kind,
      event.step,
      event.kind === "step_started" ? shortened(event.meta) : event.meta,
      value,
    ]);
  }
  const { blinding, prev, seq } = context;
  if (blinding !== undefined && data !== "") data = blinded(blinding, data, `${prev} ${seq}`);
  const { at, epoch, actor, blobs = [] } = context;
  // What is undefined isn't written.
  const plain = JSON.stringify({
    p: prev,
    t: at,
    e: epoch,
    a: actor,
    d: data === "" ? undefined : digest(data),
    b: blobs.length > 0 ? blobs : undefined,
    v: rows,
  });
  const text = blinding === undefined ? plain : marked(blinding, context.run ?? "", seq, plain);
  return {
    entry: { seq, count: events.length, head: text, data: data === "" ? null : data },
    head: digest(text),
  };
}

/** Blobs that the values of these events point to, besides those that are the values themselves. */
export function innerBlobs(events: readonly EventDraft[], blobs: readonly Blob[]): readonly string[] {
  if (blobs.length === 0) return [];
  const own = new Set(events.flatMap(({ data }) => (typeof data === "object" ? [data.blob] : [])));
  return [...new Set(blobs.flatMap(({ hash }) => (own.has(hash) ? [] : [hash])))];
}

/** The blobs that an entry's head names, besides those that are values. */
export const headBlobs = ({ head }: Pick<Entry, "head">): readonly string[] =>
  head.includes('"b":[') ? ((JSON.parse(head) as Head).b ?? []) : [];

export interface ParsedEntry {
  readonly prev: string;
  readonly events: readonly JournalEvent[];
  /** True when retention has dropped values of this entry. */
  readonly pruned: boolean;
}

/** Parses one entry and checks its data against the digest in its head. */
export function parseEntry(runId: string, entry: Entry): ParsedEntry {
  const head = parseHead(runId, entry);
  const pruned = head.d !== undefined && entry.data === null;
  const problem = dataProblem(head.d, entry.data);
  if (problem !== null) throw otherData(runId, entry.seq, entry.data, problem);
  const length = lengthOf(head.v);
  if (entry.data === null && head.d === undefined && length > 0)
    throw damaged(runId, entry.seq, "It names values that it never had.");
  const start = entry.data === null ? 0 : checkedStart(runId, entry.seq, entry.data, length);
  const events = eventsIn(head, entry.seq, entry.data, start);
  return { prev: head.p, events, pruned };
}

/** Where a value is that hasn't been read: in the data of an entry whose head is verified. */
export interface UnreadPlace {
  readonly entry: number;
  /** The digest of the entry's data, and the length of all values in it. */
  readonly digest: string;
  readonly total: number;
  readonly start: number;
  readonly length: number;
}

export interface OutlinedEntry extends ParsedEntry {
  /** The length of its values. */
  readonly length: number;
  /** The place of each event's value that is in the entry's data; `undefined` for events without one. */
  readonly places: readonly (UnreadPlace | undefined)[];
}

/** Parses an entry that came without its data. */
export function outlineEntry(runId: string, entry: Entry): OutlinedEntry {
  const head = parseHead(runId, entry);
  const total = lengthOf(head.v);
  const { d } = head;
  if (d === undefined && (total > 0 || entry.data !== null))
    throw damaged(runId, entry.seq, "It names values that it never had.");
  let start = 0;
  const places = head.v.map(({ 3: value }) => {
    if (typeof value !== "number" || value === 0 || d === undefined) return undefined;
    start += value;
    return { entry: entry.seq, digest: d, total, start: start - value, length: value };
  });
  const pruned = d !== undefined && entry.data === null;
  return {
    prev: head.p,
    events: eventsIn(head, entry.seq, entry.data === null ? null : undefined, 0),
    pruned,
    length: total,
    places,
  };
}

/** The value at a place, once the data that it is in has been read and verified. */
export function valueIn(runId: string, place: UnreadPlace, data: string): string {
  const problem = dataProblem(place.digest, data);
  if (problem !== null) throw otherData(runId, place.entry, data, problem);
  const start = checkedStart(runId, place.entry, data, place.total) + place.start;
  return data.slice(start, start + place.length);
}

function checkedStart(runId: string, seq: number, data: string, length: number): number {
  const start = startOf(data, length);
  if (start === MARK_LENGTH || (start === 0 && length === data.length)) return start;
  throw damaged(runId, seq, "The stored values are not as long as they were.");
}

/** Why what is stored isn't what its digest names: it was changed, or it is compressed and the store doesn't know. */
export const otherData = (run: string, seq: number, data: string | null, problem: string): HoldfastError => {
  if (data?.startsWith(PACKED)) return new HoldfastError("HF-3120", { run });
  return damaged(run, seq, data === UNREADABLE ? SEALED_DAMAGE : problem);
};

const SEALED_DAMAGE = "The record does not open with the run's key: it was changed, moved or replaced.";

/** The events of a head, each with its part of the data, in which values begin at `start`; `undefined`: it isn't read. */
function eventsIn(head: Head, seq: number, data: string | null | undefined, start: number): JournalEvent[] {
  const events: JournalEvent[] = [];
  let offset = start;
  for (const [index, [written, step, meta, value]] of head.v.entries()) {
    const kind = FORMER_NAMES.get(written) ?? written;
    const full = kind === "step_started" ? lengthened(meta as Partial<StepStarted>) : meta;
    const event = { kind, step, meta: full, seq: seq + index, at: head.t, epoch: head.e } as Mutable;
    if (head.a !== undefined) event.actor = head.a;
    if (typeof value === "string") event.data = { blob: value };
    else if (value > 0 && data === null) event.dropped = true;
    else if (value > 0 && data) event.data = data.slice(offset, (offset += value));
    events.push(event as unknown as JournalEvent);
  }
  return events;
}

/** Where the values begin, after the mark that blinds their digest. No value looks like a mark. */
export const valuesStart = (data: string, { v }: Pick<Head, "v">): number => startOf(data, lengthOf(v));

const startOf = (data: string, length: number): number => (looksBlinded(data) ? data.length - length : 0);

/** The length of the values that are in the entry's data. */
function lengthOf(events: Head["v"]): number {
  let length = 0;
  for (const { 3: value } of events) if (typeof value === "number") length += value;
  return length;
}

/** Kinds of events with another name in the first format. */
const FORMER_NAMES: ReadonlyMap<string, string> = new Map([["parent_notified", "family_told"]]);

/** The usual intent; only differences from it are written. */
const PLAIN_START = { type: "call", effect: "repeatable", attempt: 1, call: 1 } as const;

/** The content of most intents: one object for all of them, because a replay reads thousands. */
export const USUAL_START: StepStarted = Object.freeze({ ...PLAIN_START });

const NO_DIFFERENCES: Partial<StepStarted> = Object.freeze({});

function lengthened(meta: Partial<StepStarted>): StepStarted {
  for (const _ in meta) return { ...PLAIN_START, ...meta };
  return USUAL_START;
}

function shortened(meta: StepStarted): Partial<StepStarted> {
  if (meta === USUAL_START) return NO_DIFFERENCES;
  const { type, effect, attempt, call, ...rest } = meta;
  return {
    ...(type === PLAIN_START.type ? {} : { type }),
    ...(effect === PLAIN_START.effect ? {} : { effect }),
    ...(attempt === PLAIN_START.attempt ? {} : { attempt }),
    ...(call === PLAIN_START.call ? {} : { call }),
    ...rest,
  };
}

interface Mutable {
  actor?: string;
  data?: Raw;
  dropped?: true;
}

const isHead = (head: Head): boolean =>
  typeof head.p === "string" && typeof head.t === "number" && Array.isArray(head.v) && head.v.every(isEvent);

const isEvent = (event: unknown): boolean =>
  Array.isArray(event) &&
  typeof event[0] === "string" &&
  typeof event[1] === "string" &&
  typeof event[2] === "object" &&
  event[2] !== null &&
  (typeof event[3] === "string" || (Number.isSafeInteger(event[3]) && event[3] >= 0));

const isData = (data: unknown): boolean => data === null || typeof data === "string";

function parseHead(runId: string, entry: Entry): Head {
  try {
    const head = JSON.parse(entry.head) as Head;
    if (isHead(head) && head.v.length === entry.count && isData(entry.data)) return head;
  } catch {
    // Reported below, with the position.
  }
  throw damaged(runId, entry.seq, "The entry is not in the journal's format.");
}

export const damaged = (run: string, seq: number, problem: string): HoldfastError =>
  new HoldfastError("HF-3010", { run, seq, problem });

/**
 * Adds up an entry whose hash only the next one confirms: it may say anything, so whatever it makes the fold throw is
 * damage.
 */
export function addUp(runId: string, seq: number, fold: () => void): void {
  try {
    fold();
  } catch (error) {
    if (HoldfastError.is(error)) throw error;
    const detail = { run: runId, seq, problem: "The entry says what no journal says." };
    throw new HoldfastError("HF-3010", detail, { cause: error });
  }
}

/** Retention has dropped the requested value. */
export const dropped = (run: string, seq: number): HoldfastError =>
  new HoldfastError("HF-1023", { run, seq });

/** Checks that entries follow each other without a gap, and returns the hash of the last. */
export class ChainCheck {
  #runId: string;
  #chain: Chain;

  /** `seq` is the required position of the first entry; `hash` the hash that it must name, if known. */
  constructor(runId: string, seq: number, hash?: string) {
    this.#runId = runId;
    this.#chain = new Chain(seq, hash);
  }

  take(entry: Entry): ParsedEntry {
    if (!this.#chain.isNext(entry.seq)) throw damaged(this.#runId, this.#chain.next, "An entry is missing.");
    return this.follow(entry, parseEntry(this.#runId, entry));
  }

  /** Takes an entry that has been parsed already. */
  follow<P extends ParsedEntry>(entry: Entry, parsed: P): P {
    if (!this.#chain.isNext(entry.seq)) throw damaged(this.#runId, this.#chain.next, "An entry is missing.");
    if (!this.#chain.take(entry, parsed.prev))
      throw damaged(this.#runId, entry.seq, "The entry does not follow the one before it.");
    return parsed;
  }

  /** The chain must end where the run row says. */
  end(seq: number, head: string): void {
    if (!this.#chain.endsAt(seq, head))
      throw damaged(this.#runId, this.#chain.next, "The journal does not end where the run's head says.");
  }
}
