import { existsSync, readdirSync, readlinkSync, realpathSync, type Stats, statSync } from "node:fs";
import path from "node:path";

const NAMES = ["", "-wal", "-shm"] as const;

/** The file and its side files, as found under their names at one moment. */
export interface Files {
  readonly inodes: readonly (number | undefined)[];
  /** The stamp of the main file, which only checkpoints write. */
  readonly stamp: string;
  readonly walBytes: number;
  /** The folder's stamp, if every later change of a name in it must give it another one. */
  readonly folder: string | undefined;
}

export function lookAt(file: string, now = Date.now()): Files {
  // Before the names, so that a change in between is noticed the next time.
  const folder = isFolderStamped ? settledStamp(file, now) : undefined;
  const stats = NAMES.map((name) => statSync(file + name, { throwIfNoEntry: false }));
  const [main, wal] = stats;
  return {
    inodes: stats.map((stat) => stat?.ino),
    stamp: mainStamp(main),
    walBytes: wal?.size ?? 0,
    folder,
  };
}

/**
 * Looks at the side files only if a name in their folder has changed since `known`. The kernel gives a file whose times
 * were looked at a new time at its next write, and the sync after that write has to save the time, too: looking at the
 * WAL before each commit makes commits a third slower.
 */
export function lookAgain(file: string, known: Files): Files {
  if (known.folder === undefined || folderStamp(statOfFolder(file)) !== known.folder) return lookAt(file);
  const main = statSync(file, { throwIfNoEntry: false });
  const [, wal, memory] = known.inodes;
  return { ...known, inodes: [main?.ino, wal, memory], stamp: mainStamp(main) };
}

const mainStamp = (main: Stats | undefined): string => `${main?.size} ${main?.mtimeMs}`;

/** Windows changes the time of a folder when it gets round to it. */
const isFolderStamped = process.platform !== "win32";
/** Two changes within one tick of the clock get the same time. Some file systems count whole seconds, or two. */
const [TICK_MS, SECONDS_MS] = [50, 2_500];

function settledStamp(file: string, now: number): string | undefined {
  const stat = statOfFolder(file);
  if (!stat) return undefined;
  const tick = stat.ctimeMs % 1_000 === 0 ? SECONDS_MS : TICK_MS;
  return now - stat.ctimeMs > tick ? folderStamp(stat) : undefined;
}

const statOfFolder = (file: string): Stats | undefined =>
  statSync(path.dirname(file), { throwIfNoEntry: false });
const folderStamp = (stat: Stats | undefined): string => `${stat?.ino} ${stat?.ctimeMs}`;

/**
 * `current`: the names lead to the files that are open here. `replaced`: another file has the main name, and closing
 * the old one doesn't affect it. `orphaned`: the file is the same, but its WAL or shared memory was removed, and a
 * process that opens it now gets new ones.
 */
export type Standing = "current" | "replaced" | "orphaned";

export function standingOf(opened: Files, now: Files): Standing {
  if (now.inodes[0] !== opened.inodes[0]) return "replaced";
  return now.inodes.every((inode, i) => inode === opened.inodes[i]) ? "current" : "orphaned";
}

/**
 * True when this process has the file's shared memory open although its name is gone. SQLite would use it for every
 * further connection, while other processes use another one. Linux only.
 */
export function holdsRemovedMemory(file: string): boolean {
  const folder = path.dirname(file);
  const name = path.join(existsSync(folder) ? realpathSync(folder) : folder, path.basename(file));
  return descriptors().includes(`${name}-shm (deleted)`);
}

function descriptors(): readonly string[] {
  if (process.platform !== "linux") return [];
  try {
    return readdirSync("/proc/self/fd").map(target);
  } catch {
    return [];
  }
}

function target(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return "";
  }
}
