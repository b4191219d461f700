import {
  closeSync,
  constants,
  type Dirent,
  fsync as fsyncCallback,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";

const fsync = promisify(fsyncCallback);

/** A file that was written and is not yet safe against power loss. */
export interface Unsynced {
  /** Syncs the contents and closes the file. Call it exactly once, even if syncing another file failed. */
  readonly sync: () => Promise<void>;
  /** Closes the file without syncing it. */
  readonly close: () => Promise<void>;
}

/** Every disk operation of the store. Tests replace it to inject failures, kills and power cuts. */
export interface Disk {
  /** Reads a file without following a symbolic link. */
  readonly read: (file: string) => Promise<Buffer>;
  readonly list: (folder: string) => Promise<readonly Dirent[]>;
  readonly realpath: (folder: string) => Promise<string>;
  /** Writes a file that must not exist yet. */
  readonly create: (file: string, text: string) => Promise<Unsynced>;
  readonly makeFolder: (folder: string) => Promise<void>;
  /** Adds a second name to a file. Fails with EEXIST when that name is taken. */
  readonly link: (file: string, name: string) => Promise<void>;
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly unlink: (file: string) => Promise<void>;
  /** Removes a folder and everything in it. */
  readonly removeAll: (folder: string) => Promise<void>;
  /** Makes the names in a folder safe against power loss. */
  readonly syncFolder: (folder: string) => Promise<void>;
  /** The inode number, which distinguishes a file from another one that took its name. */
  readonly inode: (file: string) => Promise<bigint | null>;
}

/** Windows has no such flag; creating links there needs special rights. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;

/**
 * Only syncs leave the thread, because they take as long as the disk does. Everything else is served from memory and is
 * faster than a round trip to another thread.
 */
export const nodeDisk: Disk = {
  async read(file) {
    const handle = openSync(file, constants.O_RDONLY | NO_FOLLOW);
    try {
      return readFileSync(handle);
    } finally {
      closeSync(handle);
    }
  },
  list: async (folder) => readdirSync(folder, { withFileTypes: true }),
  realpath: async (folder) => realpathSync.native(folder),
  async create(file, text) {
    const handle = openSync(file, NEW_FILE, 0o600);
    const close = (): void => closeSync(handle);
    try {
      writeFileSync(handle, text);
    } catch (error) {
      closeSync(handle);
      throw error;
    }
    return { sync: () => fsync(handle).finally(close), close: async () => close() };
  },
  async makeFolder(folder) {
    mkdirSync(folder, { mode: 0o700 });
  },
  link: async (file, name) => linkSync(file, name),
  rename: async (from, to) => renameSync(from, to),
  unlink: async (file) => unlinkSync(file),
  removeAll: async (folder) => rmSync(folder, { recursive: true, force: true }),
  async syncFolder(folder) {
    // Windows can't sync a folder and refuses to open one.
    if (process.platform === "win32") return;
    const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | NO_FOLLOW);
    await fsync(handle).finally(() => closeSync(handle));
  },
  inode: async (file) => lstatSync(file, { bigint: true, throwIfNoEntry: false })?.ino ?? null,
};

export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.includes(String((error as { code?: unknown } | null)?.code));

/** Returns the result of `work`, or `undefined` when the file doesn't exist. */
export async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** How many files may be open at once: enough to keep a disk busy, far below any limit. */
const AT_ONCE = 64;

/** Runs `work` for each item, many at a time. When one fails, the rest of its wave still finishes. */
export async function forEach<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE) {
    // Lets other work on this thread run.
    if (start > 0) await setImmediate();
    const wave = await Promise.allSettled(items.slice(start, start + AT_ONCE).map(work));
    for (const one of wave) {
      if (one.status === "rejected") throw one.reason as Error;
      done.push(one.value);
    }
  }
  return done;
}

/**
 * Writes files and syncs their contents. All are written before the first is synced, so that a journaling file system
 * commits once for all of them.
 */
export async function writeFiles(
  disk: Disk,
  files: readonly { readonly path: string; readonly text: string }[],
): Promise<void> {
  for (let start = 0; start < files.length; start += AT_ONCE) {
    const wave = files.slice(start, start + AT_ONCE);
    const written = await Promise.allSettled(wave.map(({ path, text }) => disk.create(path, text)));
    const synced = await Promise.allSettled(
      written.map((one) => (one.status === "fulfilled" ? one.value.sync() : Promise.reject(one.reason))),
    );
    const failed = synced.find((one) => one.status === "rejected");
    if (failed) throw failed.reason as Error;
  }
}
