/** The store's own connection inside a transaction. Statements are constant text, values are bound. */
export interface SqlHandle {
  run(sql: string, ...values: readonly SqlValue[]): void;
  all(sql: string, ...values: readonly SqlValue[]): readonly Readonly<Record<string, SqlValue>>[];
}

export type SqlValue = string | number | bigint | Uint8Array | null;
