import { isRecord } from "../../check-options.ts";
import { Kept } from "../../flow/kept.ts";
import type { Documents } from "../../store/documents.ts";
import { type Buckets, Histogram } from "../../store/histogram.ts";
import type { NewWrites, WriteClock } from "../../store/write-times.ts";

/** The writes of all processes in five minutes. */
export interface WritesRecord {
  readonly buckets: Buckets;
  readonly failures: number;
  readonly failedRuns: Readonly<Record<string, number>>;
}

/** The probes of all processes on one day (UTC). */
export interface ProbesRecord {
  readonly probes: number;
  readonly failed: number;
  /** The first and the last of them. */
  readonly from: number;
  readonly to: number;
  /** The newest failed probe. */
  readonly failedAt: number | null;
}

const INTERVAL_MS = 300_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** How long records are kept: a little longer than the time that is measured over. */
const WRITES_KEPT_MS = 2 * HOUR_MS;
const PROBES_KEPT_MS = 35 * DAY_MS;
/** Runs with failed writes that one record names. */
const MOST_RUNS = 20;

const isCounts = (value: unknown): value is Readonly<Record<string, number>> =>
  isRecord(value) && Object.values(value).every((one) => typeof one === "number");
const isWrites = (value: unknown): value is WritesRecord =>
  isRecord(value) &&
  isCounts(value["buckets"]) &&
  typeof value["failures"] === "number" &&
  isCounts(value["failedRuns"]);
const isProbes = (value: unknown): value is ProbesRecord =>
  isRecord(value) &&
  typeof value["probes"] === "number" &&
  typeof value["failed"] === "number" &&
  typeof value["to"] === "number";

const iso = (at: number): string => new Date(at).toISOString();
const intervalOf = (at: number): string => iso(Math.floor(at / INTERVAL_MS) * INTERVAL_MS);
const dayOf = (at: number): string => iso(at).slice(0, 10);

/**
 * Rolling figures over all processes of a store. Each process counts in memory and adds its counts, once a minute, to
 * one document per five minutes (writes) and per day (probes), so their number doesn't grow with that of processes. No
 * step waits for it, and a count that can't be written is kept for the next time.
 */
export class Figures {
  readonly #writes: Kept<WritesRecord>;
  readonly #probes: Kept<ProbesRecord>;
  readonly #clock: WriteClock;
  /** Probes by day that aren't written yet. */
  readonly #pending = new Map<string, ProbesRecord>();
  #unwritten: NewWrites | undefined;

  constructor(documents: () => Documents, newVersion: () => string, clock: WriteClock) {
    this.#writes = new Kept({ documents, newVersion, kind: "slo-writes", isValid: isWrites });
    this.#probes = new Kept({ documents, newVersion, kind: "slo-probes", isValid: isProbes });
    this.#clock = clock;
  }

  /** Counts an answer of the store, or a missing one. */
  probed(at: number, isAnswered: boolean): void {
    const day = dayOf(at);
    const one = { probes: 1, failed: isAnswered ? 0 : 1, from: at, to: at, failedAt: isAnswered ? null : at };
    this.#pending.set(day, addProbes(this.#pending.get(day) ?? null, one));
  }

  /** Adds what was counted here to the store's records, and drops old ones. */
  async flush(now: number): Promise<void> {
    this.#unwritten = addWrites(this.#unwritten ?? null, this.#clock.take());
    const { buckets, failures } = this.#unwritten;
    if (Object.keys(buckets).length > 0 || failures > 0) {
      const more = this.#unwritten;
      await this.#writes.change(intervalOf(now), (current) => addWrites(current, more));
    }
    this.#unwritten = undefined;
    for (const [day, more] of this.#pending) {
      this.#pending.delete(day);
      try {
        await this.#probes.change(day, (current) => addProbes(current, more));
      } catch (error) {
        this.#pending.set(day, addProbes(this.#pending.get(day) ?? null, more));
        throw error;
      }
    }
    await this.#dropOld(now);
  }

  /** The writes of all processes since then. */
  async writes(since: number): Promise<{ readonly histogram: Histogram } & Omit<WritesRecord, "buckets">> {
    const histogram = new Histogram();
    let sum: WritesRecord | null = null;
    for (const { key, value } of await this.#writes.all())
      if (Date.parse(key) + INTERVAL_MS > since) sum = addWrites(sum, value);
    histogram.merge(sum?.buckets ?? {});
    return { histogram, failures: sum?.failures ?? 0, failedRuns: sum?.failedRuns ?? {} };
  }

  /**
   * The probes of all processes since the beginning of that day, and how long the store was away by them; `null` when
   * there were none.
   */
  async probes(since: number): Promise<(ProbesRecord & { readonly awayMs: number }) | null> {
    let sum: ProbesRecord | null = null;
    let awayMs = 0;
    for (const { key, value } of await this.#probes.all()) {
      if (key < dayOf(since)) continue;
      sum = addProbes(sum, value);
      awayMs += (value.to - value.from) * (value.failed / value.probes);
    }
    return sum && { ...sum, awayMs };
  }

  async #dropOld(now: number): Promise<void> {
    for (const { key, version } of await this.#writes.all())
      if (Date.parse(key) < now - WRITES_KEPT_MS) await this.#writes.replace(key, version, null);
    for (const { key, version } of await this.#probes.all())
      if (Date.parse(key) < now - PROBES_KEPT_MS) await this.#probes.replace(key, version, null);
  }
}

function addWrites(one: WritesRecord | null, more: WritesRecord): WritesRecord {
  const histogram = Histogram.of(one?.buckets ?? {});
  histogram.merge(more.buckets);
  const failedRuns = { ...one?.failedRuns };
  for (const [run, count] of Object.entries(more.failedRuns))
    if (run in failedRuns || Object.keys(failedRuns).length < MOST_RUNS)
      failedRuns[run] = (failedRuns[run] ?? 0) + count;
  return { buckets: histogram.buckets, failures: (one?.failures ?? 0) + more.failures, failedRuns };
}

function addProbes(one: ProbesRecord | null, more: ProbesRecord): ProbesRecord {
  const failedAt = Math.max(one?.failedAt ?? 0, more.failedAt ?? 0);
  return {
    probes: (one?.probes ?? 0) + more.probes,
    failed: (one?.failed ?? 0) + more.failed,
    from: Math.min(one?.from ?? more.from, more.from),
    to: Math.max(one?.to ?? more.to, more.to),
    failedAt: failedAt === 0 ? null : failedAt,
  };
}
