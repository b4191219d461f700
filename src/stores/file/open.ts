import { mkdir, realpath, statfs } from "node:fs/promises";
import path from "node:path";
import { badOption } from "../../core/check-options.ts";
import type { HoldfastError } from "../../core/errors.ts";
import { type Logger, silentLogger } from "../../core/logger.ts";
import type { Store } from "../../core/store/contract.ts";
import { type Disk, forEach, hasCode, nodeDisk } from "../disk.ts";
import { FolderLock } from "../folder-lock.ts";
import { isNetworkFs } from "../network-fs.ts";
import { checkOptions } from "../options.ts";
import { readOnlyError } from "../read-only.ts";
import { storeError } from "./errors.ts";
import { identify } from "./identity.ts";
import { checkFolder, Layout } from "./layout.ts";
import type { Recovered } from "./run-folder.ts";
import { FolderStore } from "./store.ts";

/** Options of the files store. */
export interface FileOptions {
  /** The folder for the files; created if needed. One process at a time may use it. */
  readonly folder: string;
  /** Decides when claims expire and runs are due. Default: the system clock. */
  readonly clock?: { now(): number };
  /** Receives a message for every file that isn't as the store left it. Default: no logging; see `recovered`. */
  readonly logger?: Logger;
  /** Allows a folder on a network file system, where links and syncs may not be reliable. Default false. */
  readonly force?: boolean;
}

/** A store whose runs are readable JSON files. */
export interface FileStore extends Store {
  /**
   * Every file found damaged or missing since the store was opened. When a run's newest record was damaged, the state
   * before it is used and the file is kept under another name: whatever happened in between may happen again.
   */
  readonly recovered: readonly Recovered[];
}

/** The parts that tests replace. */
export interface FolderParts {
  readonly disk?: Disk;
  readonly copyDelayMs?: number;
  /** The type number of the folder's file system, as Linux defines them. */
  readonly fileSystem?: (folder: string) => Promise<number>;
}

const PARTS = {
  disk: nodeDisk,
  copyDelayMs: 200,
  fileSystem: async (folder: string) => (process.platform === "linux" ? (await statfs(folder)).type : 0),
};

/** Opens the store. Tests pass other parts. */
export async function openFolder(options: FileOptions, parts: FolderParts = {}): Promise<FileStore> {
  const { disk, copyDelayMs, fileSystem } = { ...PARTS, ...parts };
  checkOptions("openFileStore", options, ["folder", "clock", "logger", "force"]);
  const { folder, clock = Date, logger = silentLogger, force = false } = options;
  if (typeof folder !== "string" || folder === "" || folder.includes("\0"))
    throw badOption("folder", "it must name a folder");
  let lock: FolderLock | undefined;
  try {
    const layout = new Layout(await prepareRoot(disk, folder));
    if (!force && isNetworkFs(await fileSystem(layout.root))) throw remote(layout.root);
    lock = await FolderLock.take(disk, layout.root, new Date().toISOString());
    await prepareFolders(disk, layout);
    const identity = await identify(disk, layout);
    await makeFolder(disk, layout.runs);
    const store = new FolderStore({ disk, layout, lock, identity, clock, logger, copyDelayMs });
    await store.load();
    return store;
  } catch (error) {
    await lock?.release().catch(() => undefined);
    // When Node can't create a folder on a read-only disk, it reports that the folder doesn't exist.
    throw storeError(readOnlyError(folder) ?? error, folder);
  }
}

/** Resolves the path now, so that a later change of the working directory or of a link moves nothing. */
async function prepareRoot(disk: Disk, folder: string): Promise<string> {
  const made = await mkdir(path.resolve(folder), { recursive: true, mode: 0o700 });
  if (made !== undefined) await disk.syncFolder(path.dirname(made));
  return realpath(folder);
}

const remote = (root: string): HoldfastError =>
  badOption(
    "folder",
    `${root} is on a network file system, where syncs and locks may not hold; set force to try`,
  );

/** Files in `tmp` were never finished. */
async function prepareFolders(disk: Disk, layout: Layout): Promise<void> {
  await makeFolder(disk, layout.tmp);
  const left = await disk.list(layout.tmp);
  await forEach(left, ({ name }) => disk.removeAll(path.join(layout.tmp, name)));
}

async function makeFolder(disk: Disk, folder: string): Promise<void> {
  try {
    await disk.makeFolder(folder);
    await disk.syncFolder(path.dirname(folder));
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
  await checkFolder(disk, folder);
}
