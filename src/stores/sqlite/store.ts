import { setTimeout as delay } from "node:timers/promises";
import { refusal } from "../../core/claim.ts";
import { HoldfastError } from "../../core/errors.ts";
import { byAge, checkLimit, checkQuery, cursorAfter } from "../../core/query.ts";
import type {
  Append,
  AppendResult,
  DueQuery,
  Entry,
  Renewal,
  RunPage,
  RunQuery,
  SqlHandle,
  Store,
  StoreIdentity,
  TransactionResult,
} from "../../core/store.ts";
import type { RunRow } from "../../core/types.ts";
import type { Connection } from "./connection.ts";
import { isBusy, storeError } from "./errors.ts";
import { insertValues, listSql, SQL, toEntry, toRow, UPDATES, updateValues } from "./statements.ts";
import { runWork } from "./transaction.ts";

type EntryRange = Parameters<Store["entries"]>[1];

interface Setup {
  readonly file: string;
  readonly busyMs: number;
  readonly clock: { now(): number };
  /** `isAgain`: after a failure, so the file must be there already. */
  connect(isAgain: boolean): Connection;
}

/**
 * Runs in one SQLite file. Statements run synchronously on one connection, so nothing comes between a BEGIN
 * and its COMMIT; only waiting for another process's lock gives way to the event loop.
 */
export class SqliteStore implements Store {
  readonly name = "sqlite";
  readonly capabilities = { durability: "power-loss", transactions: true } as const;
  readonly #setup: Setup;
  #connection: Connection | null = null;
  #hasOpened = false;
  #isClosed = false;

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  identity(): Promise<StoreIdentity> {
    return this.#attempt(({ identity }) => identity);
  }

  async now(): Promise<number> {
    if (this.#isClosed) throw new HoldfastError("HF-3012");
    return this.#setup.clock.now();
  }

  append(batch: readonly Append[]): Promise<readonly AppendResult[]> {
    return this.#attempt((connection) =>
      connection.write(() => {
        const now = this.#setup.clock.now();
        return batch.map((append) => apply(connection, append, now));
      }),
    );
  }

  renew(batch: readonly Renewal[]): Promise<readonly (RunRow | null)[]> {
    return this.#attempt((connection) =>
      connection.write(() => {
        const now = this.#setup.clock.now();
        return batch.map(({ runId, epoch, token, ttlMs }) => {
          const [values] = connection.prepare(SQL.renew).all(now + ttlMs, runId, epoch, token);
          return values ? toRow(values) : null;
        });
      }),
    );
  }

  read(runId: string): Promise<RunRow | null> {
    return this.#attempt((connection) => readRow(connection, runId));
  }

  entries(runId: string, { from, limit }: EntryRange): Promise<readonly Entry[]> {
    return this.#attempt((connection) => {
      checkLimit(limit);
      return readEntries(connection, runId, { from, limit });
    });
  }

  blobs(hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#attempt((connection) => {
      return new Map(connection.prepare(SQL.blobs).all(JSON.stringify(hashes)) as [string, string][]);
    });
  }

  list(query: RunQuery): Promise<RunPage> {
    return this.#attempt((connection) => connection.snapshot(() => listRuns(connection, query)));
  }

  due({ workflows, limit }: DueQuery): Promise<readonly RunRow[]> {
    return this.#attempt((connection) => {
      checkLimit(limit);
      const now = this.#setup.clock.now();
      return connection.prepare(SQL.due).all(now, now, JSON.stringify(workflows), limit).map(toRow);
    });
  }

  async transaction<T>(
    work: (sql: SqlHandle) => T,
    append: (value: T) => Append,
  ): Promise<TransactionResult<T>> {
    const outcome = await this.#attempt((connection) =>
      connection.write(
        () => {
          const now = this.#setup.clock.now();
          return runWork(connection.db, { work, append, apply: (built) => apply(connection, built, now) });
        },
        ({ result }) => result?.ok === true,
      ),
    );
    return outcome.result ? outcome : Promise.reject(outcome.thrown);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#drop();
  }

  /** Does `work` at once if it can, and again while another process holds the lock it needs. */
  async #attempt<T>(work: (connection: Connection) => T): Promise<T> {
    const { file, busyMs } = this.#setup;
    const deadline = performance.now() + busyMs;
    for (;;) {
      if (this.#isClosed) throw new HoldfastError("HF-3012");
      try {
        return work(this.#connected());
      } catch (error) {
        if (!isBusy(error)) throw this.#failed(error);
        if (performance.now() >= deadline)
          throw new HoldfastError("HF-3009", { file, ms: busyMs }, { cause: error });
      }
      await delay(1 + Math.random() * 15);
    }
  }

  #connected(): Connection {
    if (this.#connection?.isBroken) this.#drop();
    this.#connection ??= this.#setup.connect(this.#hasOpened);
    this.#hasOpened = true;
    return this.#connection;
  }

  #failed(error: unknown): HoldfastError {
    const failure = storeError(error, this.#setup.file);
    if (ENDS_HANDLE.includes(failure.code)) this.#drop();
    return failure;
  }

  #drop(): void {
    this.#connection?.close();
    this.#connection = null;
  }
}

const ENTRIES_AT_ONCE = 500;

/** After these the handle cannot be trusted, or cannot mend: the next call opens the file anew. */
const ENDS_HANDLE: readonly string[] = ["HF-3004", "HF-3006", "HF-3013"];

/** Takes or refuses one append, inside a write transaction. */
function apply(connection: Connection, append: Append, now: number): AppendResult {
  const { run, entry } = append;
  if (!change(connection, append, now)) {
    const row = readRow(connection, run.id);
    return { ok: false, reason: refusal(append, row, now) ?? "conflict", row };
  }
  connection.prepare(SQL.entry).run(entry.seq, entry.count, entry.head, entry.data, run.id);
  for (const { hash, data } of append.blobs) connection.prepare(SQL.blob).run(hash, data);
  return { ok: true };
}

/** Moves the run row if everything expected is true, and says whether it was. */
function change(connection: Connection, append: Append, now: number): boolean {
  const { expect, claim } = append;
  if (expect === null)
    return Number(connection.prepare(SQL.insert).run(...insertValues(append, now)).changes) === 1;
  const { steady, moving } = UPDATES[claim.kind][expect.token === null ? "outside" : "owner"];
  const run = (isSteady: boolean): boolean => {
    const statement = connection.prepare(isSteady ? steady : moving);
    return Number(statement.run(...updateValues(append, now, isSteady)).changes) === 1;
  };
  // Taking or freeing a claim nearly always changes the status, so it is not worth a try.
  return ((claim.kind === "hold" || claim.kind === "keep") && run(true)) || run(false);
}

function readRow(connection: Connection, runId: string): RunRow | null {
  const [values] = connection.prepare(SQL.read).all(runId);
  return values ? toRow(values) : null;
}

/** In pieces: the drivers take up to twice as long for one answer of thousands of rows. */
function readEntries(connection: Connection, runId: string, { from, limit }: EntryRange): Entry[] {
  const entries: Entry[] = [];
  for (let next = from; entries.length < limit; ) {
    const most = Math.min(limit - entries.length, ENTRIES_AT_ONCE);
    const rows = connection.prepare(SQL.entries).all(runId, next, next, most);
    for (const values of rows) entries.push(toEntry(values));
    const last = entries.at(-1);
    if (!last || rows.length < most) break;
    next = last.seq + last.count;
  }
  return entries;
}

function listRuns(connection: Connection, query: RunQuery): RunPage {
  const start = checkQuery(query);
  const { status, workflow, parent, limit } = query;
  const after = start ? [start.createdAt, start.id] : [];
  const given = [
    ...(workflow === undefined ? [] : [["workflow", workflow] as const]),
    ...(parent === undefined ? [] : [["parent_run", parent] as const]),
  ];
  const page = (filters: readonly (readonly ["status" | "workflow" | "parent_run", string])[]): RunRow[] => {
    const sql = listSql(
      filters.map(([column]) => column),
      after.length > 0,
    );
    const values = filters.map(([, value]) => value);
    return connection
      .prepare(sql)
      .all(...values, ...after, limit + 1)
      .map(toRow);
  };
  // One status at a time comes in order from its index; several would have to be sorted whole.
  const found = status
    ? [...new Set(status)].flatMap((one) => page([["status", one], ...given]))
    : page(given);
  const runs = found.sort(byAge).slice(0, limit);
  const last = found.length > limit ? runs.at(-1) : undefined;
  return { runs, cursor: last ? cursorAfter(last) : null };
}
