import { badOption, checkNumber } from "../../core/check-options.ts";
import { type Logger, silentLogger } from "../../core/logger.ts";
import type { Store } from "../../core/store/contract.ts";
import { checkOptions } from "../options.ts";
import { connect, listenAt } from "./driver.ts";
import { onPool } from "./pool.ts";
import type { Database, PostgresPool } from "./queryable.ts";
import { PostgresStore } from "./store.ts";

export type { PostgresClient, PostgresPool } from "./queryable.ts";

/** Options of the PostgreSQL store. Give a pool or a connection string. */
export interface PostgresOptions {
  /** A pool of `pg`, or an object of the same shape. Closing the store leaves it open. */
  readonly pool?: PostgresPool;
  /** The database to connect to with the installed package `pg`; used when no pool is given. */
  readonly connectionString?: string;
  /** The schema that holds everything. Default `holdfast`. */
  readonly schema?: string;
  /**
   * Creates the schema and keeps it up to date. Default true. With false, the role only needs to read and write rows,
   * and a missing or outdated schema is refused.
   */
  readonly create?: boolean;
  /**
   * Hears at once what other processes write, by LISTEN on a connection of its own. Without it, and whenever that
   * connection is away, other processes are heard by polling. `true`: at `connectionString`, and this is the default
   * there; a connection string: there, for example beside a pooler in transaction mode, which passes on no notices.
   * `false`: nothing is heard, and nothing told to others.
   */
  readonly listen?: boolean | string;
  /**
   * How long one statement may take, or a transaction may stand still between two of them, before its connection is
   * dropped. Default 30,000.
   */
  readonly timeoutMs?: number;
  /** Receives a warning when the server's settings weaken the store's guarantees. */
  readonly logger?: Pick<Logger, "warn">;
}

/**
 * Opens the PostgreSQL store: runs in one schema of a database, shared by any number of processes. Works behind a
 * pooler in transaction mode.
 *
 * @example
 * ```ts
 * import { openPostgresStore } from "holdfast/stores/postgres";
 *
 * export const store = await openPostgresStore({ connectionString: "postgresql://app@localhost/app" });
 * ```
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  checkOptions("openPostgresStore", options, OPTIONS);
  const { schema = "holdfast", create = true, timeoutMs = 30_000, logger = silentLogger } = options;
  checkNumber("timeoutMs", timeoutMs, { above: 0, most: Infinity });
  const database = { ...(await databaseOf(options, timeoutMs)), ...listening(options) };
  const isShared = options.listen !== false;
  const store = new PostgresStore({ database, schema, create, logger, isShared, lanes: LANES });
  try {
    await store.identity();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** While the server commits one batch, this process prepares another one. */
const LANES = 2;

const OPTIONS = ["connectionString", "pool", "schema", "create", "listen", "timeoutMs", "logger"];

function listening({ listen, connectionString }: PostgresOptions): Pick<Database, "listen"> {
  if (listen === true && connectionString === undefined)
    throw badOption("listen", "with a pool, it must be a connection string");
  if (!["undefined", "boolean", "string"].includes(typeof listen))
    throw badOption("listen", "it must be true, false or a connection string");
  const at = typeof listen === "string" ? listen : connectionString;
  return listen === false || at === undefined ? {} : { listen: listenAt(at) };
}

async function databaseOf({ pool, connectionString }: PostgresOptions, timeoutMs: number): Promise<Database> {
  if ((pool === undefined) === (connectionString === undefined))
    throw badOption("pool", "either a pool or a connectionString must be given");
  if (pool) return onPool(pool, { timeoutMs, end: async () => undefined });
  return connect(connectionString ?? "", timeoutMs);
}
