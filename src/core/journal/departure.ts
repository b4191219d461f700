import type { Ports } from "../ports.ts";
import { claimAfter } from "../store/claim.ts";
import type { Append, Blob, ClaimChange, Entry, Store } from "../store/contract.ts";
import type { StoreTime } from "../store/time.ts";
import type { RunRow } from "../types.ts";
import type { Birth } from "./birth.ts";
import type { EventDraft, JournalEvent } from "./events.ts";
import { buildEntry, innerBlobs } from "./journal.ts";
import type { PendingEvent } from "./pending-event.ts";
import { recordsOf } from "./placed-records.ts";
import { advanced } from "./project.ts";
import { type Mutable, rowOf } from "./row-copy.ts";

export interface Departing {
  readonly store: Store;
  readonly ports: Ports;
  readonly time: StoreTime;
  readonly ttlMs: number;
}

/** An append and what it leaves, if the store takes it. */
export interface Departure {
  readonly append: Append;
  readonly events: JournalEvent[];
  readonly entry: Entry;
  readonly row: RunRow;
}

/** Builds the owner's append of these events; with `birth`, it creates the run. */
export function departure(
  deps: Departing,
  current: RunRow,
  pending: readonly PendingEvent[],
  birth?: Birth,
): Departure {
  const { store, ports, time } = deps;
  const before = birth?.before ?? current;
  const at = birth?.at ?? time.now();
  const { redactor } = ports;
  const { epoch, token } = before.claim;
  const seq = before.seq + 1;
  const events = pending.map(({ event }, index) =>
    stamped(redactor ? redactor.event(event) : event, seq + index, at, epoch),
  );
  const blobs = distinctBlobs(pending);
  const { entry, head } = buildEntry(events, {
    prev: before.head,
    seq,
    at,
    epoch,
    blobs: blobs.length === 0 ? NO_HASHES : namedBlobs(pending),
    blinding: store.blinding,
    run: before.id,
  });
  const { row, isCounted } = advanced(before, events, head);
  const isLast = pending.some(({ release }) => release);
  const claim = claimChange(deps, isLast, birth);
  const expect = birth ? null : { seq: before.seq, epoch, token };
  const append: Mutable<Append> = { run: row, expect, claim, entries: [entry], head, blobs };
  if (isCounted && !isLast && !birth) append.countsOnly = true;
  const { records } = recordsOf(store, pending, events);
  if (records) append.records = records;
  const after = isLast
    ? rowOf(row, row, { claim: claimAfter(row.claim, claim, at), seq: row.seq, head })
    : row;
  return { append, events, entry, row: after };
}

/** A run that ends in the append that creates it has had a claim nevertheless. */
function claimChange({ ttlMs }: Departing, isLast: boolean, birth: Birth | undefined): ClaimChange {
  if (isLast) return birth ? { kind: "release", epoch: birth.before.claim.epoch } : { kind: "release" };
  return birth?.claim ?? { kind: "hold", ttlMs };
}

/** Field by field: on the hot path, spreading a union costs several times as much. */
export function stamped(
  { kind, step, meta, data }: EventDraft,
  seq: number,
  at: number,
  epoch: number,
): JournalEvent {
  return { kind, step, meta, data, seq, at, epoch } as JournalEvent;
}

const NO_BLOBS: readonly Blob[] = [];
const NO_HASHES: readonly string[] = [];

function distinctBlobs(pending: readonly PendingEvent[]): readonly Blob[] {
  if (!pending.some(({ blobs }) => blobs !== undefined && blobs.length > 0)) return NO_BLOBS;
  const all = pending.flatMap((one) => one.blobs ?? NO_BLOBS);
  return all.length < 2 ? all : [...new Map(all.map((blob) => [blob.hash, blob])).values()];
}

/** A snapshot points to blobs that earlier entries have named, and is itself read where that matters. */
function namedBlobs(pending: readonly PendingEvent[]): readonly string[] {
  const parts = pending.filter((one) => one.blobs !== undefined && one.event.kind !== "snapshot_taken");
  return innerBlobs(
    parts.map(({ event }) => event),
    parts.flatMap(({ blobs }) => blobs ?? NO_BLOBS),
  );
}
