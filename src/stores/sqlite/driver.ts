import { badOption } from "../../core/check-options.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { SqlValue } from "../../core/sql.ts";
import { collectGarbage } from "./collect.ts";

/** The interface between the store and the SQLite in use. */
export interface SqliteDriver {
  readonly name: DriverName;
  /** The version of the SQLite library. */
  readonly version: string;
  connect(file: string): SqliteConnection;
  /** Resolves when closed handles have released their files. */
  settle(): Promise<void>;
}

export interface SqliteConnection {
  exec(sql: string): void;
  /** Rows are arrays: reading thousands of entries as row objects takes longer. */
  prepare(sql: string): SqliteStatement;
  /** Runs a statement that isn't ours. Rows are objects. */
  query(sql: string, values: readonly SqlValue[]): Readonly<Record<string, SqlValue>>[];
  isInTransaction(): boolean;
  close(): void;
}

export interface SqliteStatement {
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint };
  all(...values: readonly SqlValue[]): readonly (readonly SqlValue[])[];
}

export type DriverName = "node" | "photostructure" | "better-sqlite3";

/** In older versions, several connections to one WAL file can corrupt it. */
const OLDEST = "3.51.3";
const WITHDRAWN = "3.52.0";

/** True when several processes can safely share a WAL file with this version of SQLite. */
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

/** Loads a driver once per process. A text explains why it isn't available. */
export function loadDriver(name: DriverName): Promise<SqliteDriver | string> {
  const known = loaded.get(name);
  if (known) return known;
  // A driver may be installed and still not work: a missing binary shows only on first use.
  const loading = LOADERS[name]()
    .then(withVersion)
    .catch((error: unknown) => `${name}: ${String(error)}`);
  loaded.set(name, loading);
  return loading;
}

/** The first driver that loads and is safe: the runtime's own, otherwise an installed one. */
export async function chooseDriver(choice: "auto" | DriverName): Promise<SqliteDriver> {
  const names: readonly DriverName[] =
    choice === "auto" ? ["node", "photostructure", "better-sqlite3"] : [choice];
  if (!names.every((name) => Object.hasOwn(LOADERS, name))) {
    throw badOption("driver", `there is no driver ${choice}`);
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

/** The name isn't a literal, so that this file compiles and bundles without the driver. */
async function imported<T>(name: string, use: (module: never) => T): Promise<T> {
  return use((await import(name)) as never);
}

/** Node 22 calls its SQLite experimental. This suppresses that warning, and no other, while the module loads. */
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
    // Node finalizes a connection's statements when it is closed. The package leaves that to garbage collection, and
    // SQLite keeps a closed handle, its descriptors and its shared memory until then.
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
      // This driver's all() throws for statements that return no rows; the others return an empty array.
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
