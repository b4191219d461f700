import { HoldfastError } from "../../core/errors.ts";
import type { SqlValue } from "../../core/sql.ts";
import { collectGarbage } from "./collect.ts";

/** The seam between the store and whichever SQLite is there. */
export interface SqliteDriver {
  readonly name: DriverName;
  /** Of the SQLite library behind it. */
  readonly version: string;
  connect(file: string): SqliteConnection;
  /** Once it answers, handles that were closed have let go of their files. */
  settle(): Promise<void>;
}

export interface SqliteConnection {
  exec(sql: string): void;
  /** Its rows are arrays: reading thousands of entries as row objects takes longer. */
  prepare(sql: string): SqliteStatement;
  /** Rows as objects, for statements that are not ours. */
  query(sql: string, values: readonly SqlValue[]): Readonly<Record<string, SqlValue>>[];
  isInTransaction(): boolean;
  close(): void;
}

export interface SqliteStatement {
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint };
  all(...values: readonly SqlValue[]): readonly (readonly SqlValue[])[];
}

export type DriverName = "node" | "photostructure" | "better-sqlite3";

/** Before it, several connections on one WAL file can corrupt it. */
const OLDEST = "3.51.3";
const WITHDRAWN = "3.52.0";

/** Whether several processes may safely share a WAL file with this version of SQLite. */
export function acceptable(version: string): boolean {
  if (version === WITHDRAWN) return false;
  const [found, oldest] = [version, OLDEST].map((text) => text.split(".").map(Number));
  for (const [i, part] of (oldest ?? []).entries()) {
    const other = found?.[i] ?? 0;
    if (other !== part) return other > part;
  }
  return true;
}

const LOADERS: Readonly<Record<DriverName, () => Promise<Omit<SqliteDriver, "version">>>> = {
  node: async () => fromDatabaseSync("node", loadNodeSqlite()),
  photostructure: () =>
    imported("@photostructure/sqlite", (found) => fromDatabaseSync("photostructure", found)),
  "better-sqlite3": () => imported("better-sqlite3", fromBetterSqlite),
};

const loaded = new Map<DriverName, Promise<SqliteDriver | string>>();

/** Loads a driver once per process; a text says why it cannot be had. */
export function loadDriver(name: DriverName): Promise<SqliteDriver | string> {
  const known = loaded.get(name);
  if (known) return known;
  // A driver may be there and still not work: its binary may be missing, which shows on first use.
  const loading = LOADERS[name]()
    .then(withVersion)
    .catch((error: unknown) => `${name}: ${String(error)}`);
  loaded.set(name, loading);
  return loading;
}

/** The first driver that can be loaded and is safe to use: the runtime's own, else one that was installed. */
export async function chooseDriver(choice: "auto" | DriverName): Promise<SqliteDriver> {
  const names: readonly DriverName[] =
    choice === "auto" ? ["node", "photostructure", "better-sqlite3"] : [choice];
  if (!names.every((name) => Object.hasOwn(LOADERS, name))) {
    throw new HoldfastError("HF-1003", { option: "driver", problem: `there is no driver ${choice}` });
  }
  const missing: string[] = [];
  let tooOld: string | undefined;
  for (const name of names) {
    const driver = await loadDriver(name);
    if (typeof driver === "string") missing.push(driver);
    else if (acceptable(driver.version)) return driver;
    else tooOld ??= driver.version;
  }
  if (tooOld !== undefined) throw new HoldfastError("HF-3007", { found: tooOld, needed: OLDEST });
  throw new HoldfastError("HF-3008", { message: missing.join("; ") });
}

function withVersion(driver: Omit<SqliteDriver, "version">): SqliteDriver {
  const probe = driver.connect(":memory:");
  const version = String(probe.prepare("SELECT sqlite_version()").all()[0]?.[0]);
  probe.close();
  return { ...driver, version };
}

/** By a name that is not a literal: neither driver need be installed for this file to compile or be bundled. */
async function imported<T>(name: string, use: (module: never) => T): Promise<T> {
  return use((await import(name)) as never);
}

/** Node 22 calls its SQLite experimental. That warning, and no other, is kept quiet while the module loads. */
function loadNodeSqlite(): DatabaseSyncModule {
  const original = Object.getOwnPropertyDescriptor(process, "emitWarning") ?? {};
  const warn = process.emitWarning.bind(process) as (...args: readonly unknown[]) => void;
  const value = (...args: readonly unknown[]): void => {
    const isOurs = args.includes("ExperimentalWarning") && String(args[0]).includes("SQLite");
    if (!isOurs) warn(...args);
  };
  Object.defineProperty(process, "emitWarning", { ...original, value });
  try {
    const found = process.getBuiltinModule("node:sqlite");
    if (!found) throw new Error("this version of Node has no node:sqlite");
    return found as unknown as DatabaseSyncModule;
  } finally {
    Object.defineProperty(process, "emitWarning", original);
  }
}

interface DatabaseSyncModule {
  readonly DatabaseSync: new (
    file: string,
  ) => {
    readonly isTransaction: boolean;
    exec(sql: string): void;
    prepare(sql: string): SqliteStatement & { setReturnArrays(on: boolean): void };
    close(): void;
  };
}

function fromDatabaseSync(
  name: DriverName,
  { DatabaseSync }: DatabaseSyncModule,
): Omit<SqliteDriver, "version"> {
  return {
    name,
    // Node finalizes a connection's statements when it is closed. The package leaves that to their collection, and SQLite keeps a
    // closed handle, its descriptors and its shared memory until then.
    settle: name === "node" ? async () => undefined : collectGarbage,
    connect(file) {
      const db = new DatabaseSync(file);
      return {
        exec: (sql) => db.exec(sql),
        prepare(sql) {
          const statement = db.prepare(sql);
          statement.setReturnArrays(true);
          return statement;
        },
        query: (sql, values) => db.prepare(sql).all(...values) as unknown as Record<string, SqlValue>[],
        isInTransaction: () => db.isTransaction,
        close: () => db.close(),
      };
    },
  };
}

interface BetterSqliteModule {
  readonly default: new (
    file: string,
  ) => {
    readonly inTransaction: boolean;
    exec(sql: string): void;
    prepare(sql: string): SqliteStatement & { readonly reader: boolean; raw(on: boolean): void };
    close(): void;
  };
}

function fromBetterSqlite({ default: Database }: BetterSqliteModule): Omit<SqliteDriver, "version"> {
  return {
    name: "better-sqlite3",
    settle: async () => undefined,
    connect(file) {
      const db = new Database(file);
      // This driver refuses all() where there are no rows to expect; the others answer with none.
      const rows = (statement: ReturnType<typeof db.prepare>, values: readonly SqlValue[]) =>
        statement.reader ? statement.all(...values) : (statement.run(...values), []);
      return {
        exec: (sql) => db.exec(sql),
        prepare(sql) {
          const statement = db.prepare(sql);
          if (statement.reader) statement.raw(true);
          return statement;
        },
        query: (sql, values) => rows(db.prepare(sql), values) as unknown as Record<string, SqlValue>[],
        isInTransaction: () => db.inTransaction,
        close: () => db.close(),
      };
    },
  };
}
