/** Runs SQL: a statement is constant text in the store's own dialect with bound values `$1`, `$2` on every store. */
export interface SqlHandle {
  run(sql: string, ...values: readonly SqlValue[]): void;
  all(sql: string, ...values: readonly SqlValue[]): readonly SqlRow[];
}

/** Runs SQL on an asynchronous store: `capabilities.transactions` is `async`. */
export interface AsyncSqlHandle {
  run(sql: string, ...values: readonly SqlValue[]): Promise<void>;
  /** Values of types that `SqlValue` doesn't cover are returned as PostgreSQL writes them. */
  all(sql: string, ...values: readonly SqlValue[]): Promise<readonly AsyncSqlRow[]>;
}

/** The store's own connection inside a transaction. */
export type AnySqlHandle = SqlHandle | AsyncSqlHandle;

/** The work of a transaction. It may be a promise only with `async`. */
export type SqlWork<T, S extends AnySqlHandle = SqlHandle> = (sql: S) => T | Promise<T>;

export type AsyncSqlRow = Readonly<Record<string, SqlValue | boolean>>;

/** A row that a statement returned. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A value in a statement or a row. */
export type SqlValue = string | number | bigint | Uint8Array | null;
