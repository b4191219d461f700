import { randomUUID } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { chooseDriver } from "../../stores/sqlite/driver.ts";
import type { StoreAddress } from "./address.ts";

/** Where the runs of one case are kept, and nothing else. */
export interface StorePlace {
  readonly address: StoreAddress;
  /** How many long values are kept beside the journals. */
  blobs(): Promise<number>;
  /** What steps with a transaction of their own wrote; only where there are transactions. */
  readonly ledger?: () => Promise<readonly { readonly runId: string; readonly step: string }[]>;
  /** SQLite: the file's size, and that of the log beside it. */
  readonly bytes?: () => { readonly file: number; readonly wal: number };
  /** Removes what is not in the case's folder. */
  clear(): Promise<void>;
}

/**
 * A kind of store, with an empty place in it for every case.
 *
 * @example
 * ```ts
 * import { crashMatrix, postgresKind } from "holdfast/testing";
 *
 * const store = await postgresKind("postgresql://postgres@localhost/postgres");
 * const report = await crashMatrix({ scenario: "sequence", limit: 20, store });
 * console.log(store.name, report.problems);
 * await store.close();
 * ```
 */
export interface StoreKind {
  readonly name: string;
  /** How many processes may use one store at a time. */
  readonly processes: "one" | "many";
  /** About how long it takes to open one. */
  readonly openMs: number;
  /** `folder` is the case's own. */
  place(folder: string): StorePlace;
  close(): Promise<void>;
}

/** The same kind; one whose stores belong to one process at a time is refused. */
export function sharedByMany(kind: StoreKind): StoreKind {
  if (kind.processes === "many") return kind;
  throw new Error(`A store of the kind ${kind.name} is used by one process at a time; this needs several.`);
}

const nothing = async (): Promise<void> => undefined;

/** SQLite, in a file of the case's folder. */
export const sqliteKind: StoreKind = {
  name: "sqlite",
  processes: "many",
  openMs: 0,
  close: nothing,
  place(folder) {
    const file = path.join(folder, "runs.db");
    const size = (of: string): number => statSync(of, { throwIfNoEntry: false })?.size ?? 0;
    return {
      address: { url: `sqlite:${file}` },
      blobs: async () => Number((await rowsIn(file, "select count(*) as n from run_blobs"))[0]?.["n"]),
      async ledger() {
        const [table] = await rowsIn(file, "select name from sqlite_master where name = 'ledger'");
        const rows = table ? await rowsIn(file, "select run, step from ledger") : [];
        return rows.map((row) => ({ runId: String(row["run"]), step: String(row["step"]) }));
      },
      bytes: () => ({ file: size(file), wal: size(`${file}-wal`) }),
      clear: nothing,
    };
  },
};

async function rowsIn(file: string, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const connection = (await chooseDriver("auto")).connect(file);
  try {
    return connection.query(sql, []);
  } finally {
    connection.close();
  }
}

/** Readable files, in a folder of the case's. */
export const fileKind: StoreKind = {
  name: "file",
  processes: "one",
  openMs: 0,
  close: nothing,
  place(folder) {
    const root = path.join(folder, "runs");
    return {
      address: { url: `file:${root}` },
      async blobs() {
        const files = readdirSync(root, { recursive: true, encoding: "utf8" });
        return files.filter((file) => path.basename(path.dirname(file)) === "blobs").length;
      },
      clear: nothing,
    };
  },
};

/** PGlite, in a folder of the case's. */
export const pgliteKind: StoreKind = {
  name: "pglite",
  processes: "one",
  openMs: 2_000,
  close: nothing,
  place(folder) {
    const root = path.join(folder, "runs");
    return {
      address: { url: `pglite:${root}` },
      async blobs() {
        const { PGlite } = await import("@electric-sql/pglite");
        const db = new PGlite(path.join(root, "data"));
        try {
          const { rows } = await db.query<{ n: number }>("SELECT count(*)::int AS n FROM holdfast.blobs");
          return Number(rows[0]?.n);
        } finally {
          await db.close();
        }
      },
      clear: nothing,
    };
  },
};

/** PostgreSQL, in a schema for each case; with a `cache` the tiered store over both. */
export async function postgresKind(url: string, cache?: string): Promise<StoreKind> {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString: url, max: 2, allowExitOnIdle: true });
  // A server that is struck breaks idle connections.
  pool.on("error", () => undefined);
  return {
    name: cache === undefined ? "postgres" : "tiered",
    processes: "many",
    openMs: 0,
    close: () => pool.end(),
    place() {
      const schema = `case_${unique()}`;
      return {
        address: { url, schema, ...(cache === undefined ? {} : { cache }) },
        blobs: async () => Number((await pool.query(`SELECT count(*) AS n FROM ${schema}.blobs`)).rows[0]?.n),
        clear: async () => void (await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)),
      };
    },
  };
}

/** Redis, with a prefix for each case. */
export async function redisKind(url: string): Promise<StoreKind> {
  const { createClient } = await import("redis");
  const client = createClient({ url });
  client.on("error", () => undefined);
  await client.connect();
  const keysLike = async (pattern: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const keys of client.scanIterator({ MATCH: pattern, COUNT: 1_000 })) found.push(...keys);
    return found;
  };
  return {
    name: "redis",
    processes: "many",
    openMs: 0,
    close: async () => client.destroy(),
    place() {
      const prefix = `case-${unique()}`;
      return {
        address: { url, prefix },
        blobs: async () => (await keysLike(`{${prefix}.*}blobs:*`)).length,
        async clear() {
          const keys = await keysLike(`{${prefix}*`);
          if (keys.length > 0) await client.unlink(keys);
        },
      };
    },
  };
}

const unique = (): string => randomUUID().replaceAll("-", "");
