import type * as Pg from "pg";
import { HoldfastError } from "../../core/errors.ts";
import { onPool } from "./pool.ts";
import type { Database, PostgresPool } from "./queryable.ts";

/** The engine needs few connections: one for appends, and some for concurrent work. */
const CONNECTIONS = 5;
const CONNECT_MS = 10_000;

/** Opens our own pool with `pg`. */
export async function connect(connectionString: string, timeoutMs: number): Promise<Database> {
  const { Pool } = await load();
  const pool = new Pool({
    connectionString,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    // Idle connections must not keep the process alive.
    allowExitOnIdle: true,
    fallback_application_name: "holdfast",
  });
  // While a connection is being handed over it has no other error listener, and an error would end the process.
  pool.on("connect", (client) => void client.on("error", () => undefined));
  return onPool(pool as unknown as PostgresPool, { timeoutMs, end: () => pool.end(), isOwn: true });
}

/** What a client can do besides what its types say. */
interface Held {
  ref(): void;
  unref(): void;
}

/** Opens a connection for LISTEN, which needs one that stays. It doesn't keep the process alive. */
export const listenAt =
  (connectionString: string): NonNullable<Database["listen"]> =>
  async (channel, heard, lost) => {
    const { Client } = await load();
    const client = new Client({
      connectionString,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      fallback_application_name: "holdfast listener",
    });
    let isOver = false;
    client.on("error", () => undefined);
    client.on("notification", ({ payload }) => heard(payload ?? ""));
    try {
      await client.connect();
      await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    client.on("end", () => {
      if (!isOver) lost();
    });
    const held = client as unknown as Held;
    held.unref();
    return async () => {
      isOver = true;
      // The process must stay until it has ended.
      held.ref();
      await client.end();
    };
  };

async function load(): Promise<Pick<typeof Pg, "Pool" | "Client">> {
  try {
    const found = await import("pg");
    // Older versions only have a default export.
    return found.default ?? found;
  } catch (error) {
    throw new HoldfastError("HF-3015", { package: "pg", store: "PostgreSQL" }, { cause: error });
  }
}
