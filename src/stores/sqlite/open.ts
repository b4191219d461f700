import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  statSync,
} from "node:fs";
import { statfs } from "node:fs/promises";
import path from "node:path";
import { badOption, checkFlag, checkMethod, checkNumber, checkText } from "../../core/check-options.ts";
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
  /** The database file; created with its folder if needed. Default `./.holdfast/holdfast.db`. */
  readonly file?: string;
  /** The SQLite to use. Default: the runtime's own if it is recent enough, otherwise an installed one. */
  readonly driver?: "auto" | DriverName;
  /** Decides when claims expire and runs are due. Default: the system clock. */
  readonly clock?: { now(): number };
  /** How long a call may wait in total for another process to finish writing. Default 30,000. */
  readonly busyMs?: number;
  /** Allows a file on a network file system, where locks may not hold and the WAL can't be shared. Default false. */
  readonly allowNetworkFs?: boolean;
}

/**
 * Opens the SQLite store: runs in one local file, safe against power loss, shared by any number of processes on one
 * machine.
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
  const file = resolveFile(checkText("file", options.file ?? "./.holdfast/holdfast.db"));
  checkMethod("clock", clock, "now");
  checkFlag("allowNetworkFs", options.allowNetworkFs);
  checkNumber("busyMs", busyMs, { least: 0, most: Infinity });
  const driver = await chooseDriver(options.driver ?? "auto");
  await prepareFolder(path.dirname(file), options.allowNetworkFs === true).catch((error: unknown) => {
    throw storeError(readOnlyError(file) ?? error, file);
  });
  const connect = async (isAgain: boolean): Promise<Connection> => {
    await makeWay(file, driver, isAgain);
    ensureFile(file, isAgain);
    const connection = new Connection(driver, file);
    // A write whose sync failed may be in the WAL but not on the disk. Copying and syncing it makes it durable.
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
  if (file === "" || file === ":memory:")
    throw badOption("file", "it must name a file; use the memory store for none");
  const resolved = path.resolve(file);
  if (statSync(resolved, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new HoldfastError("HF-3006", { file: resolved, message: "It is a folder." });
  return resolved;
}

async function prepareFolder(folder: string, allowNetworkFs: boolean): Promise<void> {
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined) syncFolder(path.dirname(made));
  if (allowNetworkFs || process.platform !== "linux" || !isNetworkFs((await statfs(folder)).type)) return;
  const problem = `${folder} is on a network file system, where SQLite is not safe; set allowNetworkFs to try`;
  throw badOption("file", problem);
}

/**
 * SQLite gives its side files the mode of the main file, so making that one private is enough. An existing file is only
 * examined: opening and closing it here would release the locks of other connections in this process.
 */
function ensureFile(file: string, isAgain: boolean): void {
  if (!isAgain && !existsSync(file)) makeFile(file);
  accessSync(file, constants.R_OK | constants.W_OK);
}

function makeFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    // Another process has created it in the meantime.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  syncFolder(path.dirname(file));
}

/** Makes new names in a folder survive power loss. Windows can't sync a folder and refuses to open one. */
function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  fsyncSync(handle);
  closeSync(handle);
}
