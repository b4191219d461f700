import { existsSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import path from "node:path";

const NAMES = ["", "-wal", "-shm"] as const;

/** The file and its side files as they are known by their names at one moment. */
export interface Files {
  readonly inodes: readonly (number | undefined)[];
  /** Of the main file, which only checkpoints write to. */
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
 * `current`: the names lead to the files that are open here. `replaced`: another file has the main name, and closing the old one does
 * nothing to it. `orphaned`: it is the same file, but its WAL or its shared memory were removed: whoever opens it now has others.
 */
export type Standing = "current" | "replaced" | "orphaned";

export function standingOf(opened: Files, now: Files): Standing {
  if (now.inodes[0] !== opened.inodes[0]) return "replaced";
  return now.inodes.every((inode, i) => inode === opened.inodes[i]) ? "current" : "orphaned";
}

/**
 * Whether this process has the shared memory of the file open although its name is gone. SQLite would use it for every further
 * connection, beside the one that other processes use. Linux only.
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
