import { HoldfastError } from "../errors.ts";
import { platform } from "../platform.ts";
import { RECORD_TABLES, risingTime, type StoredRecord, timeColumn } from "../records.ts";
import { identityOf } from "../tags.ts";
import type { RunRow } from "../types.ts";
import { changesFrom, type Numbered } from "./change-log.ts";
import { claimAfter, refusalAmong, UNCLAIMED } from "./claim.ts";
import type { Append, AppendResult, Drop, Entry, Store, StoreIdentity } from "./contract.ts";
import { memoryDocuments } from "./documents.ts";
import { checkLimit, countRows, dueRows, listRows } from "./query.ts";

/** Runs in the memory of a process: what the store of that name keeps, and what a run inside a sandbox stands on. */
export interface MemoryRuns {
  readonly rows: Map<string, RunRow>;
  readonly journals: Map<string, Entry[]>;
  /** By run, then by hash. */
  readonly blobs: Map<string, Map<string, string>>;
  /** By run. */
  readonly records: Map<string, StoredRecord[]>;
  /** The newest time of each group of records. */
  readonly times: Map<string, string>;
  /** What was written, in order. */
  readonly log: Numbered[];
  /** Returns the time, or throws HF-3012 once the store is closed. Every call begins with it. */
  readonly now: () => number;
  close(): void;
}

export function memoryRuns(clock: { now(): number }): MemoryRuns {
  let closed = false;
  return {
    rows: new Map(),
    journals: new Map(),
    blobs: new Map(),
    records: new Map(),
    times: new Map(),
    log: [],
    now() {
      if (closed) throw new HoldfastError("HF-3012");
      return clock.now();
    },
    close() {
      closed = true;
    },
  };
}

/** The contract over runs in memory. */
export function memoryStore(state: MemoryRuns, { incarnation, secret }: StoreIdentity): Store {
  const { now } = state;
  return {
    name: "memory",
    capabilities: {
      durability: "none",
      transactions: false,
      records: RECORD_TABLES,
      limits: true,
      readsAtOnce: true,
    },
    async identity() {
      now();
      return { incarnation, secret };
    },
    now: async () => now(),
    ...writes(state),
    ...reads(state),
    async changes(query) {
      now();
      return changesFrom(query, { tag: incarnation.slice(0, 8), ...readingOf(state) });
    },
    documents: memoryDocuments(now),
    async close() {
      state.close();
    },
  };
}

function writes(state: MemoryRuns): Pick<Store, "append" | "renew"> {
  return {
    async append(batch) {
      const now = state.now();
      return batch.map((append) => apply(state, append, now));
    },
    async renew(batch) {
      const now = state.now();
      return batch.map(({ runId, epoch, token, ttlMs }) => {
        const row = state.rows.get(runId);
        if (!row || row.claim.token !== token || row.claim.epoch !== epoch) return null;
        const renewed = frozen({ ...row, claim: { ...row.claim, until: now + ttlMs } });
        state.rows.set(runId, renewed);
        return renewed;
      });
    },
  };
}

function reads({
  rows,
  journals,
  blobs,
  records,
  now,
}: MemoryRuns): Pick<
  Store,
  "read" | "entries" | "blobs" | "blobNames" | "records" | "list" | "count" | "due"
> {
  return {
    async records(runId) {
      now();
      return records.get(runId) ?? [];
    },
    async read(runId) {
      now();
      return rows.get(runId) ?? null;
    },
    async entries(runId, { from, limit }) {
      now();
      checkLimit(limit);
      return (journals.get(runId) ?? []).filter(({ seq, count }) => seq + count > from).slice(0, limit);
    },
    async blobs(runId, hashes) {
      now();
      const own = blobs.get(runId);
      const found = hashes.map((hash) => [hash, own?.get(hash)] as const);
      return new Map(found.filter((pair): pair is [string, string] => pair[1] !== undefined));
    },
    async blobNames(runId) {
      now();
      return [...(blobs.get(runId)?.keys() ?? [])];
    },
    async list(query) {
      now();
      return listRows(rows.values(), query);
    },
    async count(query) {
      now();
      return countRows(rows.values(), query);
    },
    async due(query) {
      return dueRows(rows.values(), query, now());
    },
  };
}

function readingOf({ log, rows }: MemoryRuns) {
  const last = log.at(-1)?.number ?? 0;
  const between = (from: number, to: number, limit: number, isNewest: boolean): Numbered[] => {
    const rest = log.slice(log.findLastIndex(({ number }) => number <= from) + 1);
    const isThere = ({ number, change: { run } }: Numbered): boolean =>
      number <= to && rows.get(run.id)?.createdAt === run.createdAt;
    const found = rest.filter(isThere);
    const newest = new Set(new Map(found.map((one) => [one.change.run.id, one])).values());
    return (isNewest ? found.filter((one) => newest.has(one)) : found).slice(0, limit);
  };
  return { last, between };
}

function apply(state: MemoryRuns, append: Append, now: number): AppendResult {
  const { run, entries, head, drop } = append;
  const before = state.rows.get(run.id) ?? null;
  const refused = refusalAmong(append, before, now, () => state.rows.values());
  if (refused) return refused;
  if (append.claim.kind === "erase") return erase(state, run.id);
  const claim = claimAfter(before?.claim ?? UNCLAIMED, append.claim, now);
  const last = entries.at(-1) as Entry;
  const seq = last.seq + last.count - 1;
  const identity = identityOf(before ?? run);
  const { id } = identity;
  state.rows.set(id, frozen({ ...run, ...identity, claim, seq, head }));
  if (drop) forget(state, id, drop);
  if (!before) state.journals.set(id, []);
  for (const entry of entries) state.journals.get(id)?.push(frozen(entry));
  for (const { seq: first, count, head: text } of entries)
    state.log.push({
      number: (state.log.at(-1)?.number ?? 0) + 1,
      change: frozen({ run: identity, entry: { seq: first, count, head: text } }),
    });
  const blobs = state.blobs.get(id) ?? new Map<string, string>();
  for (const { hash, data } of append.blobs) if (!blobs.has(hash)) blobs.set(hash, data);
  state.blobs.set(id, blobs);
  for (const record of append.records ?? []) addRecord(state, id, record);
  return { ok: true };
}

/** The times of the records of one agent or workflow rise, as they do in tables. */
function addRecord({ records, times }: MemoryRuns, id: string, { table, seq, row }: StoredRecord): void {
  const group = JSON.stringify([table, row["workflow_id"] ?? [row["analysis_id"], row["agent_type"]]]);
  const column = timeColumn(table);
  const time = risingTime(String(row[column]), times.get(group) ?? null);
  times.set(group, time);
  records.set(id, [...(records.get(id) ?? []), frozen({ table, seq, row: { ...row, [column]: time } })]);
}

function erase({ rows, journals, blobs, records }: MemoryRuns, id: string): AppendResult {
  for (const held of [rows, journals, blobs, records]) held.delete(id);
  return { ok: true };
}

/** Called before the append's own entries and blobs are added, so that those stay. */
function forget({ journals, blobs, records }: MemoryRuns, id: string, drop: Drop): void {
  const dropped = new Set(drop.entries);
  const without = (entry: Entry): Entry =>
    dropped.has(entry.seq) ? Object.freeze({ ...entry, data: null }) : entry;
  journals.set(id, (journals.get(id) ?? []).map(without));
  for (const hash of drop.blobs) blobs.get(id)?.delete(hash);
  const gone = new Set(drop.records);
  if (gone.size > 0)
    records.set(
      id,
      (records.get(id) ?? []).filter(({ seq }) => !gone.has(seq)),
    );
}

/** A frozen copy, so that caller and store never see each other's edits. */
const frozen = <T extends object>(value: T): T => freeze(platform().clone(value));

function freeze<T extends object>(value: T): T {
  for (const child of Object.values(value)) if (typeof child === "object" && child !== null) freeze(child);
  return Object.freeze(value);
}
