import { checkMethod } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import { RECORD_TABLES, risingTime, type StoredRecord, timeColumn } from "../core/records.ts";
import { changesFrom, type Numbered } from "../core/store/change-log.ts";
import { claimAfter, refusalAmong, UNCLAIMED } from "../core/store/claim.ts";
import type { Append, AppendResult, Drop, Entry, Store } from "../core/store/contract.ts";
import { memoryDocuments } from "../core/store/documents.ts";
import { checkLimit, countRows, dueRows, listRows } from "../core/store/query.ts";
import { identityOf } from "../core/tags.ts";
import type { RunRow } from "../core/types.ts";
import { checkOptions } from "./options.ts";

interface State {
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
}

/**
 * Creates a store that lasts as long as the process, for tests and first steps. `clock` decides when claims expire and
 * runs are due.
 *
 * @example
 * ```ts
 * import { createMemoryStore } from "holdfast/stores/memory";
 *
 * export const store = createMemoryStore();
 * ```
 */
export function createMemoryStore(options: { readonly clock?: { now(): number } } = {}): Store {
  checkOptions("createMemoryStore", options, ["clock"]);
  const { clock = Date } = options;
  checkMethod("clock", clock, "now");
  let closed = false;
  const now = (): number => {
    if (closed) throw new HoldfastError("HF-3012");
    return clock.now();
  };
  const incarnation = crypto.randomUUID();
  const secret = crypto.randomUUID() + crypto.randomUUID();
  const [records, times] = [new Map(), new Map()];
  const [rows, journals, blobs] = [new Map(), new Map(), new Map()];
  const state: State = { rows, journals, blobs, records, times, log: [], now };
  return {
    name: "memory",
    capabilities: { durability: "none", transactions: false, records: RECORD_TABLES, limits: true },
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
      closed = true;
    },
  };
}

function writes(state: State): Pick<Store, "append" | "renew"> {
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
}: State): Pick<Store, "read" | "entries" | "blobs" | "records" | "list" | "count" | "due"> {
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

function readingOf({ log, rows }: State) {
  const last = log.at(-1)?.number ?? 0;
  const between = (from: number, to: number, limit: number): Numbered[] => {
    const rest = log.slice(log.findLastIndex(({ number }) => number <= from) + 1);
    const isThere = ({ number, change: { run } }: Numbered): boolean =>
      number <= to && rows.get(run.id)?.createdAt === run.createdAt;
    return rest.filter(isThere).slice(0, limit);
  };
  return { last, between };
}

function apply(state: State, append: Append, now: number): AppendResult {
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
function addRecord({ records, times }: State, id: string, { table, seq, row }: StoredRecord): void {
  const group = JSON.stringify([table, row["workflow_id"] ?? [row["analysis_id"], row["agent_type"]]]);
  const column = timeColumn(table);
  const time = risingTime(String(row[column]), times.get(group) ?? null);
  times.set(group, time);
  records.set(id, [...(records.get(id) ?? []), frozen({ table, seq, row: { ...row, [column]: time } })]);
}

function erase({ rows, journals, blobs, records }: State, id: string): AppendResult {
  for (const held of [rows, journals, blobs, records]) held.delete(id);
  return { ok: true };
}

/** Called before the append's own entries and blobs are added, so that those stay. */
function forget({ journals, blobs, records }: State, id: string, drop: Drop): void {
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
const frozen = <T extends object>(value: T): T => freeze(structuredClone(value));

function freeze<T extends object>(value: T): T {
  for (const child of Object.values(value)) if (typeof child === "object" && child !== null) freeze(child);
  return Object.freeze(value);
}
