import { existsSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import path from "node:path";

const NAMES = ["", "-wal", "-shm"] as const;

/** The file and its side files, as found under their names at one moment. */
export interface Files {
  readonly inodes: readonly (number | undefined)[];
  /** The stamp of the main file, which only checkpoints write. */
  readonly stamp: string;
  readonly walBytes: number;
}

export function lookAt(file: string): Files {
  const stats = NAMES.map((name) => statSync(file + name, { throwIfNoEntry: false }));
  const [main, wal] = stats;
  return {
    inodes: stats.map((stat) => stat?.ino),
    stamp: `${main?.size} ${main?.mtimeMs}`,
    walBytes: wal?.size ?? 0,
  };
}

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
