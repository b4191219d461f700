import type { AsyncSqlRow, SqlValue } from "../../core/sql.ts";
import { isLostStatement, isOwnFault } from "./errors.ts";
import { PARSERS } from "./parsers.ts";
import { Texts } from "./texts.ts";

/** A value as PostgreSQL writes it, or as parsed by the driver or from JSON. */
export type Value = string | number | bigint | boolean | object | null;

/** Runs statements: text with $1, $2 … and the values for them. Rows are arrays in the order of the columns. */
export interface Queryable {
  /** `name`: of this very text, so that a server which is reached directly parses it once for each connection. */
  query(text: string, values?: readonly unknown[], name?: string): Promise<readonly (readonly Value[])[]>;
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

const asWritten = (text: string): string => text;
const COMMON = { rowMode: "array", types: { getTypeParser: () => asWritten } } as const;
const NAMED = {
  queryMode: "extended",
  types: { getTypeParser: (oid: number) => PARSERS[oid] ?? asWritten },
} as const;

interface PoolOptions {
  /** How long one statement may take, or a transaction may stand between two, before its connection is dropped. */
  readonly timeoutMs: number;
  readonly end: () => Promise<void>;
}

/** Adapts a pool to a database. */
export function onPool(pool: PostgresPool, { timeoutMs, end }: PoolOptions): Database {
  const arrays: Arrays = {};
  const naming: Naming = {};
  const on = (target: Pick<PostgresPool, "query">): Queryable => ({
    async query(text, values = [], name) {
      const plain = { ...COMMON, text, values: sendable(values, arrays), query_timeout: timeoutMs };
      const config = name !== undefined && naming.isDirect === true ? { ...plain, name } : plain;
      return (await target.query(config)).rows as Value[][];
    },
    async rows(text, values) {
      const config: PoolQuery = { ...NAMED, text, values: [...values], query_timeout: timeoutMs };
      return (await target.query(config)).rows as AsyncSqlRow[];
    },
  });
  // Without a listener, the failure of an idle connection would end the process.
  pool.on?.("error", ignore);
  const alone = on(pool);
  const begin = beginning(timeoutMs);
  return {
    rows: (text, values) => alone.rows(text, values),
    async query(text, values = [], name) {
      // Not within a transaction, which a failure would end.
      if (arrays.isBinary === undefined && values.some((value) => value instanceof Texts))
        arrays.isBinary = await takesBinary(alone);
      if (name === undefined) return alone.query(text, values);
      naming.isDirect ??= await isDirect(pool, on);
      try {
        return await alone.query(text, values, name);
      } catch (error) {
        if (!naming.isDirect || !isLostStatement(error)) throw error;
        naming.isDirect = false;
        return alone.query(text, values);
      }
    },
    transaction: (work) => inTransaction(pool, (client) => nameless(on(client)), begin, work),
    async close() {
      await end();
      pool.off?.("error", ignore);
    },
  };
}

const ignore = (): void => undefined;

const IDLE = "idle_in_transaction_session_timeout";

/**
 * The server ends a transaction that stands still for too long, because the locks of a process that is frozen in one
 * would hold up everybody else until it wakes. Never for longer than the server allows by itself.
 */
function beginning(mostMs: number): string {
  const begin = "BEGIN ISOLATION LEVEL READ COMMITTED";
  if (mostMs === Infinity) return begin;
  const most = Math.ceil(mostMs);
  return `${begin}; SELECT set_config('${IDLE}', '${most}', true)
    WHERE extract(epoch FROM current_setting('${IDLE}')::interval) * 1000 NOT BETWEEN 1 AND ${most}`;
}

async function inTransaction<T>(
  pool: PostgresPool,
  on: (client: PostgresClient) => Queryable,
  begin: string,
  work: (one: Queryable) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  client.on?.("error", ignore);
  // A connection with a failure is closed instead of being returned to the pool.
  let isBroken = true;
  const one = on(client);
  try {
    await one.query(begin);
    const value = await work(one);
    await one.query("COMMIT");
    isBroken = false;
    return value;
  } catch (error) {
    if (error instanceof RolledBack) {
      await one.query("ROLLBACK");
      isBroken = false;
    }
    throw error;
  } finally {
    client.off?.("error", ignore);
    client.release(isBroken);
  }
}

/** Whether statements may have names, once that is known. */
interface Naming {
  isDirect?: boolean;
}

/**
 * True when the connection ends in the process of the server that it began with, and not in a pooler, which tells its
 * clients a number of its own.
 */
async function isDirect(pool: PostgresPool, on: (client: PostgresClient) => Queryable): Promise<boolean> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    const [[pid] = []] = await on(client).query("SELECT pg_backend_pid()");
    isBroken = false;
    return client.processID !== undefined && client.processID === Number(pid);
  } finally {
    client.release(isBroken);
  }
}

/** In a transaction a lost statement would cost all of it. */
const nameless = (one: Queryable): Queryable => ({
  query: (text, values) => one.query(text, values),
  rows: (text, values) => one.rows(text, values),
});

/** How arrays of texts are sent, once that is known. */
interface Arrays {
  isBinary?: boolean;
}

const sendable = (values: readonly unknown[], { isBinary }: Arrays): unknown[] =>
  values.map((value) => (!(value instanceof Texts) ? value : isBinary ? value.toBinary() : value.values));

/** True when the driver sends bytes as they are. The one on top of libpq doesn't. */
async function takesBinary(one: Queryable): Promise<boolean> {
  const bytes = new Texts(["a", null]).toBinary();
  try {
    const [[text] = []] = await one.query("SELECT array_to_string($1::text[], ',', '-')", [bytes]);
    return text === "a,-";
  } catch (error) {
    if (isOwnFault(error)) throw error;
    return false;
  }
}
