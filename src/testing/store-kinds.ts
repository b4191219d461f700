import { randomUUID } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { defined } from "../core/defined.ts";
import { chooseDriver } from "../stores/sqlite/driver.ts";
import { ledgerIn, type StoreAddress } from "./store-address.ts";

/** The place that holds the runs of one case, and nothing else. */
export interface StorePlace {
  readonly address: StoreAddress;
  /** The number of long values stored beside the journals. */
  blobs(): Promise<number>;
  /** The rows that transaction steps wrote; only for stores with transactions. */
  readonly ledger?: () => Promise<readonly { readonly runId: string; readonly step: string }[]>;
  /** SQLite: the sizes of the file and its WAL. */
  readonly bytes?: () => { readonly file: number; readonly wal: number };
  /** Removes everything outside the case's folder. */
  clear(): Promise<void>;
}

/** A kind of store, with an empty place for every case. */
export interface StoreKind {
  readonly name: string;
  /** How many processes may use one store at a time. */
  readonly processes: "one" | "many";
  /** The approximate time to open one on a busy machine. Time limits scale with it. */
  readonly openMs: number;
  /** The claim duration of workers that may be killed: living ones must keep theirs. */
  readonly claimMs: number;
  /** `folder` is the case's own. */
  place(folder: string): StorePlace;
  close(): Promise<void>;
}

/** Returns the kind, and refuses one whose stores belong to one process at a time. */
export function sharedByMany(kind: StoreKind): StoreKind {
  if (kind.processes === "many") return kind;
  throw new Error(`A store of the kind ${kind.name} is used by one process at a time; this needs several.`);
}

const nothing = async (): Promise<void> => undefined;

/** SQLite, in a file in the case's folder. */
export const sqliteKind: StoreKind = {
  name: "sqlite",
  processes: "many",
  openMs: 0,
  claimMs: 200,
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

/** Readable files, in a subfolder of the case's folder. */
export const fileKind: StoreKind = {
  name: "file",
  processes: "one",
  openMs: 0,
  claimMs: 200,
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

/** PGlite, in a subfolder of the case's folder. */
export const pgliteKind: StoreKind = {
  name: "pglite",
  processes: "one",
  openMs: 2_000,
  claimMs: 2_000,
  close: nothing,
  place(folder) {
    const root = path.join(folder, "runs");
    const ask: Ask = async (sql) => {
      const { PGlite } = await import("@electric-sql/pglite");
      const db = new PGlite(path.join(root, "data"));
      try {
        return (await db.query<Row>(sql)).rows;
      } finally {
        await db.close();
      }
    };
    const address = { url: `pglite:${root}` };
    return { address, ...inSchema(ask, "holdfast", ledgerIn(address)), clear: nothing };
  },
};

/** PGlite whose stores begin as copies of an empty database, because creating one takes many seconds. */
export async function copiedPgliteKind(): Promise<StoreKind> {
  const { PGlite } = await import("@electric-sql/pglite");
  const empty = mkdtempSync(path.join(tmpdir(), "holdfast-pglite-"));
  const first = new PGlite(path.join(empty, "data"));
  await first.waitReady;
  await first.close();
  return {
    ...pgliteKind,
    place(folder) {
      cpSync(empty, path.join(folder, "runs"), { recursive: true });
      return pgliteKind.place(folder);
    },
    close: async () => rmSync(empty, { recursive: true, force: true }),
  };
}

/** PostgreSQL, with a schema per case; with a `cache`, the tiered store over both. */
export async function postgresKind(url: string, cache?: string): Promise<StoreKind> {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString: url, max: 2, allowExitOnIdle: true });
  // Faults on the server break idle connections.
  pool.on("error", () => undefined);
  return {
    name: cache === undefined ? "postgres" : "tiered",
    processes: "many",
    openMs: 0,
    claimMs: 200,
    close: () => pool.end(),
    place() {
      const address = { url, schema: `case_${unique()}`, ...defined({ cache }) };
      const ask: Ask = async (sql) => (await pool.query<Row>(sql)).rows;
      return {
        address,
        ...inSchema(ask, address.schema, ledgerIn(address)),
        clear: async () => void (await pool.query(`DROP SCHEMA IF EXISTS ${address.schema} CASCADE`)),
      };
    },
  };
}

type Row = Readonly<Record<string, unknown>>;
type Ask = (sql: string) => Promise<readonly Row[]>;

/** The contents of PostgreSQL tables, for any server. */
const inSchema = (ask: Ask, schema: string, ledger: string): Pick<StorePlace, "blobs" | "ledger"> => ({
  blobs: async () => Number((await ask(`SELECT count(*) AS n FROM ${schema}.blobs`))[0]?.["n"]),
  async ledger() {
    const [table] = await ask(`SELECT to_regclass('${ledger}') AS name`);
    const rows = table?.["name"] ? await ask(`SELECT run, step FROM ${ledger}`) : [];
    return rows.map((row) => ({ runId: String(row["run"]), step: String(row["step"]) }));
  },
});

/** Redis, with a prefix per case. */
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
    claimMs: 200,
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
