import type { AsyncSqlRow } from "../../core/sql.ts";
import { isOwnFault } from "./errors.ts";
import { HeldConnections, type Keeping, unlessLost } from "./kept.ts";
import { PARSERS } from "./parsers.ts";
import {
  type Database,
  type PoolQuery,
  type PostgresClient,
  type PostgresPool,
  type Queryable,
  RolledBack,
  type Value,
} from "./queryable.ts";
import type { Statement } from "./statement.ts";
import { Texts } from "./texts.ts";

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
  /** True for a pool of `pg` that nobody else uses. */
  readonly isOwn?: boolean;
}

/** The longest time that a timer can wait. */
const LONGEST_MS = 2 ** 31 - 1;

type Sent = Statement & { readonly name?: string };

/** Adapts a pool to a database. */
export function onPool(pool: PostgresPool, { timeoutMs: mostMs, end, isOwn = false }: PoolOptions): Database {
  const timeoutMs = Math.min(mostMs, LONGEST_MS);
  const arrays: Arrays = isOwn ? { isBinary: true } : {};
  const keeping: Keeping = {};
  const held = isOwn ? new HeldConnections(pool, timeoutMs) : undefined;
  const sent = (target: Pick<PostgresPool, "query">, statement: Sent) => {
    const values = sendable(statement.values, arrays);
    const config: PoolQuery = { ...COMMON, ...statement, values, query_timeout: timeoutMs };
    return target.query(config).then(({ rows }) => rows as Value[][]);
  };
  const on = (target: Pick<PostgresPool, "query">): Queryable => ({
    query: (text, values = []) => sent(target, { text, values }),
    async rows(text, values) {
      const config: PoolQuery = { ...NAMED, text, values: [...values], query_timeout: timeoutMs };
      return (await target.query(config)).rows as AsyncSqlRow[];
    },
  });
  // Without a listener, the failure of an idle connection would end the process.
  pool.on?.("error", ignore);
  const alone = on(pool);
  const begin = beginning(mostMs);
  const ready = async (values: readonly unknown[]): Promise<void> => {
    // Not within a transaction, which a failure would end.
    if (arrays.isBinary === undefined && values.some((value) => value instanceof Texts))
      arrays.isBinary = await takesBinary(alone);
  };
  return {
    rows: (text, values) => alone.rows(text, values),
    async query(text, values = []) {
      await ready(values);
      return alone.query(text, values);
    },
    async kept(statement) {
      keeping.isDirect ??= await isDirect(pool, on);
      if (!keeping.isDirect) return null;
      if (held) return unlessLost(keeping, () => held.execute(statement));
      await ready(statement.values);
      return unlessLost(keeping, () => sent(pool, statement));
    },
    transaction: (work) => inTransaction(pool, on, begin, work),
    async close() {
      held?.close();
      await end();
      // A connection of our own pool may still be ending.
      if (!isOwn) pool.off?.("error", ignore);
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
  const most = Math.min(Math.ceil(mostMs), LONGEST_MS);
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
