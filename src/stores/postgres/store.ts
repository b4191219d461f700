import { setTimeout as delay } from "node:timers/promises";
import { badOption } from "../../core/check-options.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import type { StoredRecord } from "../../core/records.ts";
import type { AnySqlHandle, SqlWork } from "../../core/sql.ts";
import type { ChangeQuery, Changes } from "../../core/store/changes.ts";
import type {
  Append,
  AppendResult,
  BlobStart,
  DueQuery,
  Entry,
  News,
  Renewal,
  RunCount,
  RunFilter,
  RunPage,
  RunQuery,
  RunRange,
  Store,
  StoreCapabilities,
  StoreIdentity,
  TransactionResult,
} from "../../core/store/contract.ts";
import type { Documents } from "../../core/store/documents.ts";
import { checkLimit } from "../../core/store/query.ts";
import type { RunRow } from "../../core/types.ts";
import { appendBatch, type Writing } from "./append.ts";
import { type Calls, callsOf } from "./append-plain.ts";
import { changesIn, forgetForeign } from "./changes.ts";
import { documentsIn } from "./documents.ts";
import { isRepeatable, storeError } from "./errors.ts";
import { countStatement, dueStatement, listRuns, schemaSize, toCount } from "./listing.ts";
import { markRestored, type Opened, openedAs, type Place, prepare, sameAgain } from "./migrations.ts";
import { Notices } from "./notices.ts";
import type { Database } from "./queryable.ts";
import { readRecords, TABLES } from "./records.ts";
import { renewBatch } from "./renew.ts";
import { rowOf, toEntry, toRow } from "./rows.ts";
import { type Checked, checkServer } from "./settings.ts";
import { CLOCK } from "./statement.ts";
import { transact } from "./transaction.ts";

export interface PostgresSetup {
  readonly database: Database;
  readonly schema: string;
  readonly create: boolean;
  readonly logger: Pick<Logger, "warn">;
  readonly name?: string;
  /** The name of the place in error messages. */
  readonly where?: string;
  /** True when other processes are told what is written here. */
  readonly isShared?: boolean;
  /** True when nothing survives the process, whatever the settings say. */
  readonly isVolatile?: boolean;
  /** How many connections may append at once; 1 when missing. */
  readonly lanes?: number;
}

/** How often to repeat a statement that was rolled back because of a conflict. */
const MOST_TRIES = 8;

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/;

/**
 * Runs in one schema of a PostgreSQL database. Nothing depends on the connection that a statement gets: no session
 * state, no prepared statements, every table by its full name.
 */
export class PostgresStore implements Store {
  readonly name: string;
  readonly documents: Documents;
  readonly #setup: PostgresSetup;
  readonly #place: Place;
  readonly #calls: Calls;
  readonly #notices: Notices | undefined;
  #durability: StoreCapabilities["durability"] = "power-loss";
  #hasWarned = false;
  /** The identity found at the first opening, which writes expect. */
  #opened: Opened | undefined;
  #closing: Promise<void> | undefined;

  constructor(setup: PostgresSetup) {
    const { schema } = setup;
    if (!NAME.test(schema))
      throw badOption("schema", "it must be a name of 1 to 63 letters, digits, '_' or '-'");
    this.name = setup.name ?? "postgres";
    this.#setup = setup;
    this.#place = { schema, at: `"${schema}".`, name: setup.where ?? `PostgreSQL schema ${schema}` };
    this.#calls = callsOf(this.#place.at);
    this.#notices = setup.isShared ? new Notices(setup) : undefined;
    this.documents = documentsIn({
      at: this.#place.at,
      call: (work) => this.#call(work),
      writing: () => this.#writing(),
    });
  }

  get capabilities(): StoreCapabilities {
    return {
      durability: this.#durability,
      transactions: "async",
      records: TABLES,
      archives: true,
      limits: true,
      lanes: this.#setup.lanes ?? 1,
    };
  }

  identity(): Promise<StoreIdentity> {
    return this.#call(async (database) => {
      const again = this.#opened && (await sameAgain(database, this.#place));
      this.#warn(again ?? (await checkServer(database, this.#place.name)));
      return again ? again.identity : this.#prepared(database);
    });
  }

  async #prepared(database: Database): Promise<StoreIdentity> {
    const identity = await prepare(database, this.#place, this.#setup.create);
    if (this.#setup.create) await forgetForeign(database, this.#place.at);
    this.#opened ??= await openedAs(database, this.#place);
    return identity;
  }

  #warn({ durability, doubt }: Checked): void {
    this.#durability = this.#setup.isVolatile ? "none" : durability;
    if (doubt === undefined || this.#hasWarned) return;
    this.#setup.logger.warn("acknowledged writes may not survive a power loss", { doubt });
    this.#hasWarned = true;
  }

  now(): Promise<number> {
    return this.#call(async (database) => Number((await database.query(`SELECT ${CLOCK}`))[0]?.[0]));
  }

  append(batch: readonly Append[]): Promise<readonly AppendResult[]> {
    return this.#call(async (database) => {
      const results = await appendBatch(database, await this.#writing(), batch);
      this.#notices?.wrote(batch, results);
      return results;
    });
  }

  hear(listener: (news: News) => void): () => void {
    return this.#notices?.hear(listener) ?? (() => undefined);
  }

  renew(batch: readonly Renewal[]): Promise<readonly (RunRow | null)[]> {
    return this.#call(async (database) => renewBatch(database, await this.#writing(), batch));
  }

  async read(runId: string): Promise<RunRow | null> {
    const [row] = await this.#rows(`SELECT ${rowOf("run")} FROM ${this.#place.at}runs AS run WHERE id = $1`, [
      runId,
    ]);
    return row ?? null;
  }

  entries(runId: string, range: RunRange): Promise<readonly Entry[]> {
    return this.#entries("entry.data", runId, range);
  }

  outlines(runId: string, range: RunRange): Promise<readonly Entry[]> {
    return this.#entries("CASE WHEN entry.data IS NOT NULL THEN '' END AS data", runId, range);
  }

  #entries(data: string, runId: string, { from, limit }: RunRange): Promise<readonly Entry[]> {
    const { at } = this.#place;
    const containing = `SELECT max(seq) FROM ${at}journal WHERE run = run.n AND seq <= $2`;
    return this.#call(async (database) => {
      checkLimit(limit);
      const text = `SELECT entry.seq, entry.count, entry.head, ${data}
        FROM ${at}runs AS run JOIN ${at}journal AS entry ON entry.run = run.n
        WHERE run.id = $1 AND entry.seq >= coalesce((${containing}), 0) AND entry.seq + entry.count > $2
        ORDER BY entry.seq LIMIT $3`;
      return (await database.query(text, [runId, from, limit])).map(toEntry);
    });
  }

  /**
   * Returns problems that belong to no run. Checking pages and indexes is the server's job (data checksums, amcheck).
   */
  check(): Promise<readonly string[]> {
    const { at } = this.#place;
    const strays = (table: string): string =>
      `SELECT count(*) FROM ${at}${table} AS one WHERE NOT EXISTS (SELECT FROM ${at}runs AS run WHERE run.n = one.run)`;
    return this.#call(async (database) => {
      const [[journal = 0, blobs = 0] = []] = await database.query(
        `SELECT (${strays("journal")}), (${strays("blobs")})`,
      );
      return [
        ...(Number(journal) > 0 ? [`Journal entries that belong to no run: ${Number(journal)}.`] : []),
        ...(Number(blobs) > 0 ? [`Blobs that belong to no run: ${Number(blobs)}.`] : []),
      ];
    });
  }

  blobs(runId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { at } = this.#place;
    return this.#call(async (database) => {
      const text = `SELECT blob.hash, blob.data FROM ${at}runs AS run JOIN ${at}blobs AS blob ON blob.run = run.n
        WHERE run.id = $1 AND blob.hash = ANY ($2::text[])`;
      return new Map((await database.query(text, [runId, hashes])) as readonly [string, string][]);
    });
  }

  blobNames(runId: string): Promise<readonly string[]> {
    const { at } = this.#place;
    return this.#call(async (database) => {
      const text = `SELECT blob.hash FROM ${at}runs AS run JOIN ${at}blobs AS blob ON blob.run = run.n WHERE run.id = $1`;
      return (await database.query(text, [runId])).map(([hash]) => hash as string);
    });
  }

  peek(runId: string, hash: string, most: number): Promise<BlobStart | null> {
    const { at } = this.#place;
    return this.#call(async (database) => {
      const text = `SELECT left(blob.data, $3::int), length(blob.data) FROM ${at}runs AS run
        JOIN ${at}blobs AS blob ON blob.run = run.n WHERE run.id = $1 AND blob.hash = $2`;
      const [[start, length] = []] = await database.query(text, [runId, hash, most]);
      return start === undefined ? null : { start: start as string, length: Number(length) };
    });
  }

  records(runId: string): Promise<readonly StoredRecord[]> {
    return this.#call((database) => readRecords(database, this.#place.at, runId));
  }

  changes(query: ChangeQuery): Promise<Changes> {
    return this.#call(async (database) => changesIn(database, await this.#writing(), query));
  }

  list(query: RunQuery): Promise<RunPage> {
    return this.#call((database) => listRuns(database, this.#place.at, query));
  }

  count(query: RunFilter): Promise<readonly RunCount[]> {
    const { text, values } = countStatement(this.#place.at, query);
    return this.#call(async (database) => (await database.query(text, values)).map(toCount));
  }

  size(): Promise<number> {
    return this.#call((database) => schemaSize(database, this.#place.at));
  }

  async due(query: DueQuery): Promise<readonly RunRow[]> {
    checkLimit(query.limit);
    const { text, values } = dueStatement(this.#place.at, query);
    return this.#rows(text, values);
  }

  async transaction<T, S extends AnySqlHandle>(
    work: SqlWork<T, S>,
    append: (value: T) => Append,
  ): Promise<TransactionResult<T>> {
    if (this.#closing) throw new HoldfastError("HF-3012");
    const start = performance.now();
    const { database } = this.#setup;
    const done = work as SqlWork<T, AnySqlHandle>;
    const toFault = (error: unknown) => storeError(error, this.#place.name, performance.now() - start);
    const outcome = await transact(database, await this.#writing(), done, append, toFault).catch(
      (error: unknown) => {
        throw toFault(error);
      },
    );
    return outcome.result ? outcome : Promise.reject(outcome.thrown);
  }

  markRestored(): Promise<StoreIdentity> {
    return this.#call(async (database) => {
      const identity = await markRestored(database, this.#place);
      this.#opened = await openedAs(database, this.#place);
      return identity;
    });
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#notices?.close();
      await this.#setup.database.close();
    })();
    return this.#closing;
  }

  async #writing(): Promise<Writing> {
    this.#opened ??= await openedAs(this.#setup.database, this.#place);
    return { ...this.#place, opened: this.#opened, calls: this.#calls };
  }

  #rows(text: string, values: readonly unknown[]): Promise<readonly RunRow[]> {
    return this.#call(async (database) => (await database.query(text, values)).map(toRow));
  }

  /** Runs `work`, and repeats it while the server rolls it back because of conflicts. */
  async #call<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const start = performance.now();
    for (let tries = 1; ; tries++) {
      if (this.#closing) throw new HoldfastError("HF-3012");
      try {
        return await work(this.#setup.database);
      } catch (error) {
        if (!isRepeatable(error) || tries === MOST_TRIES)
          throw storeError(error, this.#place.name, performance.now() - start);
      }
      await delay(Math.random() * 2 ** tries);
    }
  }
}
