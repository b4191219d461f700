import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError } from "../../core/errors.ts";
import type { StoredRecord } from "../../core/records.ts";
import type { AnySqlHandle, SqlWork } from "../../core/sql.ts";
import type { ChangeQuery, Changes } from "../../core/store/changes.ts";
import { limitsOf, refusal } from "../../core/store/claim.ts";
import type {
  Append,
  AppendResult,
  BlobStart,
  ClaimLimit,
  DueQuery,
  Entry,
  Renewal,
  RunCount,
  RunFilter,
  RunPage,
  RunQuery,
  Store,
  StoreIdentity,
  TransactionResult,
} from "../../core/store/contract.ts";
import { checkLimit } from "../../core/store/query.ts";
import type { RunRow } from "../../core/types.ts";
import { otherStore } from "../other-store.ts";
import { restoration } from "../restoration.ts";
import { changesIn, eraseJournal } from "./changes.ts";
import { type Connection, orphaned } from "./connection.ts";
import { documentsIn } from "./documents.ts";
import { isBusy, storeError } from "./errors.ts";
import { countRuns, databaseSize, dueRuns, listRuns } from "./listing.ts";
import { dropRecords, readRecords, TABLES, writeRecords } from "./records.ts";
import { insertValues, toEntry, toRow, updateValues } from "./rows.ts";
import { type Extent, SQL, UPDATES } from "./statements.ts";
import { runWork } from "./transaction.ts";

type EntryRange = Parameters<Store["entries"]>[1];

interface Setup {
  readonly file: string;
  readonly busyMs: number;
  readonly clock: { now(): number };
  /** `isAgain`: reopens after a failure, so the file must exist already. */
  connect(isAgain: boolean): Promise<Connection>;
  /** Resolves when closed handles have released the file. */
  settle(): Promise<void>;
}

/**
 * Runs in one SQLite file. Statements run synchronously on one connection, so nothing comes between a BEGIN and its
 * COMMIT. Only waiting for another process's lock yields to the event loop.
 */
export class SqliteStore implements Store {
  readonly name = "sqlite";
  readonly capabilities = {
    durability: "power-loss",
    transactions: "sync",
    records: TABLES,
    archives: true,
    limits: true,
    readsAtOnce: true,
  } as const;
  readonly documents = documentsIn({
    look: (work) => this.#look(work),
    write: (work) =>
      this.#attempt((connection) =>
        connection.write(() => {
          this.#checkSame(connection);
          return work(connection);
        }),
      ),
  });
  readonly #setup: Setup;
  #connection: Connection | null = null;
  #opening: Promise<Connection> | null = null;
  #isOrphaned = false;
  /** The file and the incarnation found at the first opening. */
  #opened: { readonly inode: number | undefined; readonly incarnation: string } | undefined;
  #hasOpened = false;
  #isClosed = false;

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  identity(): Promise<StoreIdentity> {
    return this.#look(({ identity }) => identity);
  }

  async now(): Promise<number> {
    if (this.#isClosed) throw new HoldfastError("HF-3012");
    return this.#setup.clock.now();
  }

  append(batch: readonly Append[]): Promise<readonly AppendResult[]> {
    return this.#attempt((connection) => {
      const results = connection.write(() => {
        const now = this.#setup.clock.now();
        this.#checkSame(connection);
        return batch.map((append) => apply(connection, append, now));
      });
      const frees = ({ drop, claim }: Append): boolean => drop !== undefined || claim.kind === "erase";
      if (batch.some((append, index) => frees(append) && results[index]?.ok)) connection.shrink();
      return results;
    });
  }

  renew(batch: readonly Renewal[]): Promise<readonly (RunRow | null)[]> {
    return this.#attempt((connection) =>
      connection.write(() => {
        this.#checkSame(connection);
        const now = this.#setup.clock.now();
        return batch.map(({ runId, epoch, token, ttlMs }) => {
          const [values] = connection.prepare(SQL.renew).all(now + ttlMs, runId, epoch, token);
          return values ? toRow(values) : null;
        });
      }),
    );
  }

  read(runId: string): Promise<RunRow | null> {
    return this.#look((connection) => readRow(connection, runId));
  }

  entries(runId: string, range: EntryRange): Promise<readonly Entry[]> {
    return this.#attempt((connection) => readEntries(connection, SQL.entries, runId, range));
  }

  outlines(runId: string, range: EntryRange): Promise<readonly Entry[]> {
    return this.#attempt((connection) => readEntries(connection, SQL.outlines, runId, range));
  }

  blobs(runId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#attempt((connection) => {
      const found = connection.prepare(SQL.blobs).all(runId, JSON.stringify(hashes));
      return new Map(found as [string, string][]);
    });
  }

  blobNames(runId: string): Promise<readonly string[]> {
    return this.#look((connection) =>
      connection
        .prepare(SQL.blobNames)
        .all(runId)
        .map(([hash]) => String(hash)),
    );
  }

  peek(runId: string, hash: string, most: number): Promise<BlobStart | null> {
    return this.#look((connection) => {
      const [[start, length] = []] = connection.prepare(SQL.peek).all(most, runId, hash);
      return start === undefined ? null : { start: String(start), length: Number(length) };
    });
  }

  records(runId: string): Promise<readonly StoredRecord[]> {
    return this.#attempt((connection) => readRecords(connection, runId));
  }

  changes(query: ChangeQuery): Promise<Changes> {
    return this.#look((connection) => connection.snapshot(() => changesIn(connection, query)));
  }

  list(query: RunQuery): Promise<RunPage> {
    return this.#look((connection) => connection.snapshot(() => listRuns(connection, query)));
  }

  count(query: RunFilter): Promise<readonly RunCount[]> {
    return this.#look((connection) => countRuns(connection, query));
  }

  size(): Promise<number> {
    return this.#look(databaseSize);
  }

  due(query: DueQuery): Promise<readonly RunRow[]> {
    return this.#look((connection) => {
      checkLimit(query.limit);
      const now = this.#setup.clock.now();
      return connection.snapshot(() => dueRuns(connection, now, query));
    });
  }

  async transaction<T, S extends AnySqlHandle>(
    work: SqlWork<T, S>,
    append: (value: T) => Append,
  ): Promise<TransactionResult<T>> {
    const outcome = await this.#attempt((connection) =>
      connection.write(
        () => {
          this.#checkSame(connection);
          const now = this.#setup.clock.now();
          return runWork(connection.db, {
            work: work as SqlWork<T>,
            append,
            apply: (built) => apply(connection, built, now),
          });
        },
        ({ result }) => result?.ok === true,
      ),
    );
    return outcome.result ? outcome : Promise.reject(outcome.thrown);
  }

  markRestored(): Promise<StoreIdentity> {
    return this.#attempt((connection) =>
      connection.write(() => {
        const newest = Number(connection.prepare(SQL.newest).all()[0]?.[0] ?? 0);
        const { incarnation, restoredAt } = restoration(this.#setup.clock.now(), newest);
        connection.prepare(SQL.setMeta).run("incarnation", incarnation);
        connection.prepare(SQL.setMeta).run("restored_at", String(restoredAt));
        this.#opened = { inode: connection.inode, incarnation };
        return connection.identity;
      }),
    );
  }

  /** Returns the problems that SQLite finds, and data that belongs to no run. */
  check(): Promise<readonly string[]> {
    return this.#attempt((connection) => {
      const found = connection.prepare(SQL.integrity).all().map(String);
      const [strays = []] = connection.prepare(SQL.strays).all();
      const [journal = 0, blobs = 0] = strays.map(Number);
      return [
        ...found.filter((line) => line !== "ok").map((line) => `The file is damaged: ${line}.`),
        ...(journal > 0 ? [`Journal entries that belong to no run: ${journal}.`] : []),
        ...(blobs > 0 ? [`Blobs that belong to no run: ${blobs}.`] : []),
      ];
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#drop();
    await this.#setup.settle();
  }

  /** Reads runs, but never from a file that is no longer the store, such as after someone has put back another one. */
  async #look<T>(work: (connection: Connection) => T): Promise<T> {
    if (this.#connection && this.#connection.standing !== "current") this.#drop();
    return this.#attempt(work);
  }

  /** Runs `work`, and repeats it while another process holds the lock that it needs. */
  async #attempt<T>(work: (connection: Connection) => T): Promise<T> {
    const { file, busyMs } = this.#setup;
    const deadline = performance.now() + busyMs;
    for (;;) {
      if (this.#connection?.isBroken) this.#drop();
      if (this.#isClosed) throw new HoldfastError("HF-3012");
      if (this.#isOrphaned) throw orphaned(file);
      try {
        return work(this.#connection ?? (await this.#open()));
      } catch (error) {
        if (!isBusy(error)) throw this.#failed(error);
        if (performance.now() >= deadline)
          throw new HoldfastError("HF-3009", { file, ms: busyMs }, { cause: error });
      }
      await delay(1 + Math.random() * 15);
    }
  }

  /** Part of the same transaction as a write, so that a write after a restore leaves nothing. */
  #checkSame(connection: Connection): void {
    const [[incarnation] = []] = connection.prepare(SQL.incarnation).all();
    if (incarnation !== this.#opened?.incarnation) throw otherStore(this.#setup.file);
  }

  /** Concurrent callers share one opening. */
  #open(): Promise<Connection> {
    this.#opening ??= this.#setup
      .connect(this.#hasOpened)
      .then((connection) => {
        this.#opened ??= { inode: connection.inode, incarnation: connection.identity.incarnation };
        if (connection.inode !== this.#opened.inode) {
          connection.close();
          throw otherStore(this.#setup.file);
        }
        this.#connection = connection;
        this.#hasOpened = true;
        // The store may have been closed in the meantime.
        if (this.#isClosed) this.#drop();
        return connection;
      })
      .finally(() => {
        this.#opening = null;
      });
    return this.#opening;
  }

  #failed(error: unknown): HoldfastError {
    const failure = storeError(error, this.#setup.file);
    if (ENDS_HANDLE.includes(failure.code)) this.#drop();
    return failure;
  }

  #drop(): void {
    this.#connection?.close();
    this.#isOrphaned ||= this.#connection?.isKept === true;
    this.#connection = null;
  }
}

const ENTRIES_AT_ONCE = 500;

/** After these errors the handle can't be trusted or can't recover, so the next call reopens the file. */
const ENDS_HANDLE: readonly string[] = ["HF-3004", "HF-3006", "HF-3013"];

/** Applies or refuses one append, inside a write transaction. */
function apply(connection: Connection, append: Append, now: number): AppendResult {
  const { run, entries, blobs, records, drop } = append;
  if (append.claim.kind === "erase") return erase(connection, append, now);
  const by = inTheWay(connection, append);
  if (by !== undefined) {
    const row = readRow(connection, run.id);
    return row ? { ok: false, reason: "exists", row } : { ok: false, reason: "taken", row, by };
  }
  const isTooMany = limitsOf(append).some((limit) => isReached(connection, run.id, limit));
  if (isTooMany || !change(connection, append, now)) {
    const row = readRow(connection, run.id);
    return { ok: false, reason: refusal(append, row, now) ?? (isTooMany ? "full" : "conflict"), row };
  }
  // Drops first, so that the append's own entries and blobs stay.
  if (drop && drop.entries.length > 0)
    connection.prepare(SQL.dropData).run(run.id, JSON.stringify(drop.entries));
  if (drop && drop.blobs.length > 0)
    connection.prepare(SQL.dropBlobs).run(run.id, JSON.stringify(drop.blobs));
  if (drop) dropRecords(connection, run.id, drop);
  if (append.expect === null) addLabels(connection, run);
  for (const { seq, count, head, data } of entries)
    connection.prepare(SQL.entry).run(run.id, seq, count, head, data);
  for (const { hash, data } of blobs) connection.prepare(SQL.blob).run(run.id, hash, data);
  if (records) writeRecords(connection, run.id, records);
  return { ok: true };
}

/** Counted inside the write transaction, so that no other claim comes in between. */
function isReached(connection: Connection, runId: string, { queue, key, most }: ClaimLimit): boolean {
  const statement = connection.prepare(key === undefined ? SQL.running : SQL.runningOfKey);
  const [[count] = []] = key === undefined ? statement.all(queue, runId) : statement.all(queue, key, runId);
  return Number(count) >= most;
}

/** Looked for inside the write transaction, so that no other create comes in between. */
function inTheWay(connection: Connection, { run, alone }: Append): string | undefined {
  if (!alone) return undefined;
  const isUnbegun = alone.among === "unbegun" ? 1 : 0;
  const [[id] = []] = connection.prepare(SQL.inTheWay).all(alone.key, run.workflow, run.id, isUnbegun);
  return id === undefined ? undefined : String(id);
}

/** Labels have an index of their own, in the order of lists. */
function addLabels(connection: Connection, { id, createdAt, labels }: Append["run"]): void {
  for (const [label, value] of Object.entries(labels))
    connection.prepare(SQL.label).run(label, value, createdAt, id, id);
}

/** Removes a run if every expectation holds. Nothing comes between the check and the statements. */
function erase(connection: Connection, append: Append, now: number): AppendResult {
  const { id } = append.run;
  const row = readRow(connection, id);
  const reason = refusal(append, row, now);
  if (reason) return { ok: false, reason, row };
  const records = readRecords(connection, id).map(({ seq }) => seq);
  dropRecords(connection, id, { entries: [], blobs: [], ...append.drop, records });
  for (const [label, value] of Object.entries(row?.labels ?? {}))
    connection.prepare(SQL.eraseLabel).run(label, value, row?.createdAt ?? 0, id);
  eraseJournal(connection, id);
  for (const statement of [SQL.eraseBlobs, SQL.eraseRun]) connection.prepare(statement).run(id);
  return { ok: true };
}

/** Updates the run's row if every expectation holds; returns whether it did. */
function change(connection: Connection, append: Append, now: number): boolean {
  const { run, expect, claim } = append;
  if (claim.kind === "erase") return false;
  if (expect === null)
    return Number(connection.prepare(SQL.insert).run(...insertValues(append, now)).changes) === 1;
  const statements = UPDATES[claim.kind][expect.token === null ? "outside" : "owner"];
  const attempt = (extent: Extent): boolean => {
    const statement = connection.prepare(statements[extent]);
    return Number(statement.run(...updateValues(append, now, extent)).changes) === 1;
  };
  if (append.countsOnly) return attempt("counts");
  if (run.prunedAt !== null) return attempt("whole");
  // A change of claim owner nearly always changes the status, so `steady` isn't worth trying.
  const isSteady = claim.kind === "hold" || claim.kind === "keep";
  return (isSteady && attempt("steady")) || attempt("moving") || attempt("whole");
}

function readRow(connection: Connection, runId: string): RunRow | null {
  const [values] = connection.prepare(SQL.read).all(runId);
  return values ? toRow(values) : null;
}

/** Reads in pieces: the drivers take up to twice as long for one result of thousands of rows. */
function readEntries(
  connection: Connection,
  sql: string,
  runId: string,
  { from, limit }: EntryRange,
): Entry[] {
  checkLimit(limit);
  const entries: Entry[] = [];
  for (let next = from; entries.length < limit; ) {
    const most = Math.min(limit - entries.length, ENTRIES_AT_ONCE);
    const rows = connection.prepare(sql).all(runId, next, next, most);
    for (const values of rows) entries.push(toEntry(values));
    const last = entries.at(-1);
    if (!last || rows.length < most) break;
    next = last.seq + last.count;
  }
  return entries;
}
