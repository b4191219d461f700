import { accessSync, closeSync, constants, existsSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { statfs } from "node:fs/promises";
import path from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import type { Store } from "../../core/store/contract.ts";
import { isNetworkFs } from "../network-fs.ts";
import { checkOptions } from "../options.ts";
import { readOnlyError } from "../read-only.ts";
import { Connection, makeWay } from "./connection.ts";
import { chooseDriver, type DriverName } from "./driver.ts";
import { storeError } from "./errors.ts";
import { SqliteStore } from "./store.ts";

/** Options of the SQLite store. */
export interface SqliteOptions {
  /** The database file; made with its folder if need be. Default `./.holdfast/holdfast.db`. */
  readonly file?: string;
  /** Which SQLite to use. Default: the runtime's own if it is recent enough, else an installed one. */
  readonly driver?: "auto" | DriverName;
  /** Judges claims and due times; the system clock unless given. */
  readonly clock?: { now(): number };
  /** How long a call may wait, in all, for another process to finish writing. Default 30,000. */
  readonly busyMs?: number;
  /** Takes a file on a network file system, where locks may not hold and WAL is not shared. Default false. */
  readonly allowNetworkFs?: boolean;
}

/**
 * Opens the SQLite store: runs in one local file, safe against power loss, shared by any number of processes
 * of one machine.
 *
 * @example
 * ```ts
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * export const store = await openSqliteStore({ file: "./data/runs.db" });
 * ```
 */
export async function openSqliteStore(options: SqliteOptions = {}): Promise<Store> {
  checkOptions("openSqliteStore", options, ["file", "driver", "clock", "busyMs", "allowNetworkFs"]);
  const { busyMs = 30_000, clock = Date } = options;
  const file = resolveFile(options.file ?? "./.holdfast/holdfast.db");
  if (!(busyMs >= 0))
    throw new HoldfastError("HF-1003", { option: "busyMs", problem: "it must be 0 or more" });
  const driver = await chooseDriver(options.driver ?? "auto");
  await prepareFolder(path.dirname(file), options.allowNetworkFs === true).catch((error: unknown) => {
    throw storeError(readOnlyError(file) ?? error, file);
  });
  const connect = async (isAgain: boolean): Promise<Connection> => {
    await makeWay(file, driver, isAgain);
    ensureFile(file, isAgain);
    const connection = new Connection(driver, file);
    // A write that failed to sync may be in the WAL but not on the disk. Copied over and synced, it is.
    if (isAgain) connection.checkpoint();
    if (!connection.isBroken) return connection;
    connection.close();
    throw new Error("its WAL cannot be written back");
  };
  const store = new SqliteStore({ file, busyMs, clock, connect, settle: () => driver.settle() });
  await store.identity();
  return store;
}

function resolveFile(file: string): string {
  if (file !== "" && file !== ":memory:") return path.resolve(file);
  throw new HoldfastError("HF-1003", {
    option: "file",
    problem: "it must name a file; use the memory store for none",
  });
}

async function prepareFolder(folder: string, allowNetworkFs: boolean): Promise<void> {
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined) syncFolder(path.dirname(made));
  if (allowNetworkFs || process.platform !== "linux" || !isNetworkFs((await statfs(folder)).type)) return;
  const problem = `${folder} is on a network file system, where SQLite is not safe; set allowNetworkFs to try`;
  throw new HoldfastError("HF-1003", { option: "file", problem });
}

/**
 * SQLite gives its side files the mode of the main file, so making that one private is enough. A file that is there is only asked
 * about: to open and close it here would take the locks away from other connections of this process.
 */
function ensureFile(file: string, isAgain: boolean): void {
  if (!isAgain && !existsSync(file)) makeFile(file);
  accessSync(file, constants.R_OK | constants.W_OK);
}

function makeFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    // Another process has made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  syncFolder(path.dirname(file));
}

/** Makes new names in a folder survive power loss. Windows keeps no such promise and opens no folders. */
function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  fsyncSync(handle);
  closeSync(handle);
}
