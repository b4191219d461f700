/** A statement is constant text in the store's own dialect; values are bound, and stand in it as `$1`, `$2` on every store. */
export interface SqlHandle {
  run(sql: string, ...values: readonly SqlValue[]): void;
  all(sql: string, ...values: readonly SqlValue[]): readonly SqlRow[];
}

/** The same on a store that answers later: `capabilities.transactions` is `async`. */
export interface AsyncSqlHandle {
  run(sql: string, ...values: readonly SqlValue[]): Promise<void>;
  /** Of types that `SqlValue` has none for, values come as PostgreSQL writes them. */
  all(sql: string, ...values: readonly SqlValue[]): Promise<readonly AsyncSqlRow[]>;
}

/** The store's own connection inside a transaction. */
export type AnySqlHandle = SqlHandle | AsyncSqlHandle;

/** What is done in a transaction. Only with `async` may it be a promise. */
export type SqlWork<T, S extends AnySqlHandle = SqlHandle> = (sql: S) => T | Promise<T>;

export type AsyncSqlRow = Readonly<Record<string, SqlValue | boolean>>;

export type SqlRow = Readonly<Record<string, SqlValue>>;

export type SqlValue = string | number | bigint | Uint8Array | null;
