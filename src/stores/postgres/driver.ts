import type * as Pg from "pg";
import { HoldfastError } from "../../core/errors.ts";
import { type Database, onPool, type PostgresPool } from "./queryable.ts";

/** The engine needs few: one for appends, and some for what goes on beside them. */
const CONNECTIONS = 5;
const CONNECT_MS = 10_000;

/** A pool of our own, by way of `pg`. */
export async function connect(connectionString: string, timeoutMs: number): Promise<Database> {
  const { Pool } = await load();
  const pool = new Pool({
    connectionString,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    // Open connections alone are no reason for a process to go on.
    allowExitOnIdle: true,
    fallback_application_name: "holdfast",
  });
  // While a connection changes hands nobody else listens, and its end would be that of the process.
  pool.on("connect", (client) => void client.on("error", () => undefined));
  return onPool(pool as unknown as PostgresPool, { timeoutMs, end: () => pool.end() });
}

async function load(): Promise<Pick<typeof Pg, "Pool">> {
  try {
    const found = await import("pg");
    // Older versions have nothing but a default export.
    return found.default ?? found;
  } catch (error) {
    throw new HoldfastError("HF-3015", { package: "pg", store: "PostgreSQL" }, { cause: error });
  }
}
