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
  /** Makes its contents safe and lets go of it. To be called once, whatever happens to the others. */
  readonly sync: () => Promise<void>;
  /** Lets go of it as it is. */
  readonly close: () => Promise<void>;
}

/** Everything the store does to a disk: the seam at which tests fail it, kill it or pull its plug. */
export interface Disk {
  /** Reads a file; a symbolic link is not followed. */
  readonly read: (file: string) => Promise<Buffer>;
  readonly list: (folder: string) => Promise<readonly Dirent[]>;
  readonly realpath: (folder: string) => Promise<string>;
  /** Writes a file that must not be there yet. */
  readonly create: (file: string, text: string) => Promise<Unsynced>;
  readonly makeFolder: (folder: string) => Promise<void>;
  /** A second name for a file; fails with EEXIST where that name is taken. */
  readonly link: (file: string, name: string) => Promise<void>;
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly unlink: (file: string) => Promise<void>;
  /** Removes a folder with all it holds. */
  readonly removeAll: (folder: string) => Promise<void>;
  /** Makes the names in a folder safe against power loss. */
  readonly syncFolder: (folder: string) => Promise<void>;
  /** What tells a file from another that took its name. */
  readonly inode: (file: string) => Promise<bigint | null>;
}

/** Windows has no such flags: there, links take special rights to make. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;

/**
 * Only syncs leave the thread: they take as long as the disk does. All else is answered from memory and takes less time than
 * the way to another thread and back.
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
    // Windows keeps no such promise and opens no folders.
    if (process.platform === "win32") return;
    const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | NO_FOLLOW);
    await fsync(handle).finally(() => closeSync(handle));
  },
  inode: async (file) => lstatSync(file, { bigint: true, throwIfNoEntry: false })?.ino ?? null,
};

export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.includes(String((error as { code?: unknown } | null)?.code));

/** The result of `work`, or `undefined` where there is no such file. */
export async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** So many files are open at once: enough to keep a disk busy, far from any limit. */
const AT_ONCE = 64;

/** Does `work` for each item, many at a time; when one fails, the rest of its wave is waited for. */
export async function forEach<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE) {
    // Others on this thread get their turn.
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
 * Writes files and makes their contents safe. All are written before the first is synced: a journaling file system then
 * commits once for the lot.
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
