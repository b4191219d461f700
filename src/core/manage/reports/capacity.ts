import type { JournalEvent } from "../../journal/events.ts";
import { headBlobs } from "../../journal/journal.ts";
import type { Entry, Store } from "../../store/contract.ts";
import type { Mutable, RunRow, RunStatus } from "../../types.ts";
import {
  isWithin,
  Looked,
  type LookedAt,
  linksOf,
  type Period,
  type ReportQuery,
  readPeriod,
  runsIn,
} from "./period.ts";

/** The amount of stored data: lengths of texts as given to the store, before compression, indexes and free pages. */
export interface Stored {
  readonly runs: number;
  readonly entries: number;
  /** Heads, which stay. */
  readonly headBytes: number;
  /** Values in entries and in blobs, which retention drops. */
  readonly valueBytes: number;
  readonly blobs: number;
}

/** One day, in UTC. */
export interface CapacityDay {
  /** `2026-11-15` */
  readonly day: string;
  readonly runs: number;
  readonly entries: number;
  /** Bytes written that day that still exist. */
  readonly bytes: number;
  /** Runs that lost all their values that day, and entries and blobs whose values were dropped. */
  readonly expired: number;
  readonly dropped: number;
}

/** The content of a store, its growth, and what retention removes. */
export interface CapacityReport extends Period, LookedAt {
  readonly total: Stored;
  readonly byStatus: Readonly<Partial<Record<RunStatus, number>>>;
  readonly byWorkflow: Readonly<Record<string, Stored>>;
  /** The ten that hold most. */
  readonly largest: readonly { readonly run: string; readonly workflow: string; readonly bytes: number }[];
  /** Days of the period with any activity, oldest first. */
  readonly days: readonly CapacityDay[];
}

const LARGEST = 10;
const BATCH = 200;

export async function capacityReport(store: Store, query: ReportQuery): Promise<CapacityReport> {
  const period = await readPeriod(store, query);
  const total = nothing();
  const byStatus: Partial<Record<RunStatus, number>> = {};
  const byWorkflow: Record<string, Mutable<Stored>> = {};
  const largest: { run: string; workflow: string; bytes: number }[] = [];
  const days = new Days(period);
  // Data written before the period is part of the content.
  const looked = new Looked();
  const all = { since: 0, until: period.until };
  for await (const row of runsIn(store, query, all, looked))
    await looked.at(row.id, async () => {
      const stored = await measure(store, row, days);
      byStatus[row.status] = (byStatus[row.status] ?? 0) + 1;
      add(total, stored);
      add((byWorkflow[row.workflow] ??= nothing()), stored);
      largest.push({ run: row.id, workflow: row.workflow, bytes: stored.headBytes + stored.valueBytes });
      largest.sort((a, b) => b.bytes - a.bytes).splice(LARGEST);
    });
  return { ...period, total, byStatus, byWorkflow, largest, days: days.finish(), ...looked.told };
}

async function measure(store: Store, row: RunRow, days: Days): Promise<Stored> {
  const stored = { ...nothing(), runs: 1 };
  const seen = new Set<string>();
  for await (const { entry, events, isCopied } of linksOf(store, row)) {
    // A fork holds a copy of its source's entries since its own creation.
    const at = isCopied ? row.createdAt : (events[0]?.at ?? row.createdAt);
    const hashes = [...blobsOf(entry, events)].filter((hash) => !seen.has(hash));
    for (const hash of hashes) seen.add(hash);
    const blobs = await sizesOf(store, row.id, hashes);
    const values = (entry.data?.length ?? 0) + blobs.bytes;
    stored.entries++;
    stored.headBytes += entry.head.length;
    stored.valueBytes += values;
    stored.blobs += blobs.count;
    days.wrote(at, entry.head.length + values);
    if (!isCopied) for (const event of events) days.saw(event);
  }
  days.began(row.createdAt);
  return stored;
}

function blobsOf(entry: Pick<Entry, "head">, events: readonly JournalEvent[]): Set<string> {
  const own = events.flatMap(({ data }) => (typeof data === "object" ? [data.blob] : []));
  return new Set([...own, ...headBlobs(entry)]);
}

async function sizesOf(
  store: Store,
  runId: string,
  hashes: readonly string[],
): Promise<{ count: number; bytes: number }> {
  const size = { count: 0, bytes: 0 };
  for (let from = 0; from < hashes.length; from += BATCH)
    for (const text of (await store.blobs(runId, hashes.slice(from, from + BATCH))).values()) {
      size.count++;
      size.bytes += text.length;
    }
  return size;
}

const nothing = (): Mutable<Stored> => ({ runs: 0, entries: 0, headBytes: 0, valueBytes: 0, blobs: 0 });

function add(sum: Mutable<Stored>, more: Stored): void {
  for (const key of Object.keys(sum) as (keyof Stored)[]) sum[key] += more[key];
}

/** What happened on each day of a period. */
class Days {
  readonly #period: Period;
  readonly #days = new Map<string, Mutable<CapacityDay>>();

  constructor(period: Period) {
    this.#period = period;
  }

  began(at: number): void {
    this.#count(at, (day) => day.runs++);
  }

  wrote(at: number, bytes: number): void {
    this.#count(at, (day) => {
      day.entries++;
      day.bytes += bytes;
    });
  }

  saw(event: JournalEvent): void {
    if (event.kind !== "values_dropped") return;
    const { entries, blobs, all } = event.meta;
    this.#count(event.at, (day) => {
      day.dropped += entries + blobs;
      if (all) day.expired++;
    });
  }

  finish(): CapacityDay[] {
    return [...this.#days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
  }

  #count(at: number, change: (day: Mutable<CapacityDay>) => void): void {
    if (!isWithin(this.#period, at)) return;
    const name = new Date(at).toISOString().slice(0, 10);
    const day = this.#days.get(name) ?? { day: name, runs: 0, entries: 0, bytes: 0, expired: 0, dropped: 0 };
    this.#days.set(name, day);
    change(day);
  }
}
