import type { AsyncSqlRow, SqlValue } from "../../core/sql.ts";
import { PARSERS } from "./parsers.ts";

/** As PostgreSQL writes it, or as the driver or JSON has read it. */
export type Value = string | number | bigint | boolean | object | null;

/** All that statements need: text with $1, $2 … and values for them; rows as arrays, in the order of the columns. */
export interface Queryable {
  query(text: string, values?: readonly unknown[]): Promise<readonly (readonly Value[])[]>;
  /** For a statement of the caller's own, and no more than one: rows by the names of their columns. */
  rows(text: string, values: readonly SqlValue[]): Promise<readonly AsyncSqlRow[]>;
}

/** Thrown by what is done in a transaction: it is rolled back, and the connection is as good as before. */
export class RolledBack<T> extends Error {
  readonly value: T;

  constructor(value: T) {
    super("rolled back");
    this.value = value;
  }
}

/** A place to send statements to, each on its own; or several, with nobody in between. */
export interface Database extends Queryable {
  /** Does `work` in one transaction at the level READ COMMITTED, which is kept only if `work` does not throw. */
  transaction<T>(work: (one: Queryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** What is asked of a pool: that of `pg`, or one of the same shape. */
export interface PostgresPool {
  query(config: PoolQuery): Promise<{ readonly rows: unknown[] }>;
  connect(): Promise<PostgresClient>;
  on?(event: "error", listener: (error: Error) => void): unknown;
  off?(event: "error", listener: (error: Error) => void): unknown;
}

export interface PostgresClient {
  query(config: PoolQuery): Promise<{ readonly rows: unknown[] }>;
  on?(event: "error", listener: (error: Error) => void): unknown;
  off?(event: "error", listener: (error: Error) => void): unknown;
  release(error?: Error | boolean): void;
}

/** Never a name: a statement that is kept on a connection is lost behind a pooler. */
export interface PoolQuery {
  readonly text: string;
  readonly values: unknown[];
  readonly rowMode?: "array";
  /** Takes one statement only. */
  readonly queryMode?: "extended";
  /** How values are read, whatever the pool's owner has set up for itself. */
  readonly types: { getTypeParser(oid: number): (text: string) => unknown };
  readonly query_timeout: number;
}

const asWritten = (text: string): string => text;
const COMMON = { rowMode: "array", types: { getTypeParser: () => asWritten } } as const;
const NAMED = {
  queryMode: "extended",
  types: { getTypeParser: (oid: number) => PARSERS[oid] ?? asWritten },
} as const;

interface PoolOptions {
  /** How long one statement may take before its connection is given up. */
  readonly timeoutMs: number;
  readonly end: () => Promise<void>;
}

/** A pool as a database. */
export function onPool(pool: PostgresPool, { timeoutMs, end }: PoolOptions): Database {
  const on = (target: Pick<PostgresPool, "query">): Queryable => ({
    async query(text, values = []) {
      const config: PoolQuery = { ...COMMON, text, values: [...values], query_timeout: timeoutMs };
      return (await target.query(config)).rows as Value[][];
    },
    async rows(text, values) {
      const config: PoolQuery = { ...NAMED, text, values: [...values], query_timeout: timeoutMs };
      return (await target.query(config)).rows as AsyncSqlRow[];
    },
  });
  // A connection that breaks while nobody uses it would otherwise end the process.
  const ignore = (): void => undefined;
  pool.on?.("error", ignore);
  return {
    ...on(pool),
    async transaction(work) {
      const client = await pool.connect();
      client.on?.("error", ignore);
      // A connection on which something went wrong is given up, not handed on.
      let isBroken = true;
      try {
        const one = on(client);
        await one.query("BEGIN ISOLATION LEVEL READ COMMITTED");
        const value = await work(one);
        await one.query("COMMIT");
        isBroken = false;
        return value;
      } catch (error) {
        if (error instanceof RolledBack) {
          await on(client).query("ROLLBACK");
          isBroken = false;
        }
        throw error;
      } finally {
        client.off?.("error", ignore);
        client.release(isBroken);
      }
    },
    async close() {
      await end();
      pool.off?.("error", ignore);
    },
  };
}
