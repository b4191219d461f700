import type { AsyncSqlRow, SqlValue } from "../../core/sql.ts";
import type { NamedStatement } from "./statement.ts";

/** A value as PostgreSQL writes it, or as parsed by the driver or from JSON. */
export type Value = string | number | bigint | boolean | object | null;

/** Runs statements: text with $1, $2 … and the values for them. Rows are arrays in the order of the columns. */
export interface Queryable {
  query(text: string, values?: readonly unknown[]): Promise<readonly (readonly Value[])[]>;
  /**
   * Runs a statement that the server parses once for each connection. `null` where it can't: behind a pooler, a prepared
   * statement gets lost. Nothing has been done then. Missing in a transaction, all of which a lost statement would cost.
   */
  kept?(statement: NamedStatement): Promise<readonly (readonly Value[])[] | null>;
  /** Runs exactly one statement of the caller's own. Rows are objects by column name. */
  rows(text: string, values: readonly SqlValue[]): Promise<readonly AsyncSqlRow[]>;
}

/** Thrown inside a transaction to roll it back; the connection stays usable. */
export class RolledBack<T> extends Error {
  readonly value: T;

  constructor(value: T) {
    super("rolled back");
    this.value = value;
  }
}

/** Runs statements one by one, or several as a transaction. */
export interface Database extends Queryable {
  /** Runs `work` in one READ COMMITTED transaction, which is committed only if `work` doesn't throw. */
  transaction<T>(work: (one: Queryable) => Promise<T>): Promise<T>;
  /**
   * Listens to a channel on a connection of its own, until the returned function is called. `lost` is called once if the
   * connection ends before that. Missing where there is no such connection.
   */
  listen?(channel: string, heard: (told: string) => void, lost: () => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** The part of a `pg` pool that the store uses. */
export interface PostgresPool {
  query(config: PoolQuery): Promise<{ readonly rows: unknown[] }>;
  connect(): Promise<PostgresClient>;
  on?(event: "error", listener: (error: Error) => void): unknown;
  off?(event: "error", listener: (error: Error) => void): unknown;
}

/** What the store needs of a PostgreSQL client. */
export interface PostgresClient {
  /** The number of the server's process at the other end, as it was told when the connection began. */
  readonly processID?: number | null;
  query(config: PoolQuery): Promise<{ readonly rows: unknown[] }>;
  on?(event: "error", listener: (error: Error) => void): unknown;
  off?(event: "error", listener: (error: Error) => void): unknown;
  release(error?: Error | boolean): void;
}

/** Has a name only where the server is reached directly: behind a pooler, a prepared statement gets lost. */
export interface PoolQuery {
  readonly text: string;
  readonly name?: string;
  readonly values: unknown[];
  readonly rowMode?: "array";
  /** Accepts only one statement. */
  readonly queryMode?: "extended";
  /** Parses values independently of the parsers that the pool's owner has configured. */
  readonly types: { getTypeParser(oid: number): (text: string) => unknown };
  readonly query_timeout: number;
}
