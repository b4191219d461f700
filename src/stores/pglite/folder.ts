import { randomUUID } from "node:crypto";
import { mkdir, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { type ErrorCode, HoldfastError } from "../../core/errors.ts";
import { nodeDisk } from "../disk.ts";
import { FolderLock } from "../folder-lock.ts";
import { readOnlyError } from "../read-only.ts";
import type { PgliteDatabase } from "./database.ts";

const DATA = "data";
const UNFINISHED = ".new-";

/** Opens the PGlite in a folder, which no other process may use until `close`. */
export async function openFolder(
  place: string,
): Promise<{ readonly db: PgliteDatabase; readonly close: () => Promise<void> }> {
  const open = await load();
  const { folder, lock } = await lockFolder(place).catch((error: unknown) => {
    throw folderError(readOnlyError(place) ?? error, place, "HF-3013");
  });
  try {
    const db = await openLocked(folder, open);
    return { db, close: () => closeBoth(db, lock) };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function lockFolder(place: string): Promise<{ folder: string; lock: FolderLock }> {
  await mkdir(place, { recursive: true, mode: 0o700 });
  const folder = await realpath(place);
  return { folder, lock: await FolderLock.take(nodeDisk, folder, new Date().toISOString()) };
}

type Open = (folder: string) => Promise<PgliteDatabase>;

async function load(): Promise<Open> {
  try {
    const { PGlite } = await import("@electric-sql/pglite");
    return async (folder) => {
      const db = new PGlite(folder);
      await db.waitReady;
      return db;
    };
  } catch (error) {
    const detail = { package: "@electric-sql/pglite", store: "PGlite" };
    throw new HoldfastError("HF-3015", detail, { cause: error });
  }
}

async function openLocked(folder: string, open: Open): Promise<PgliteDatabase> {
  const data = path.join(folder, DATA);
  if (!(await exists(data))) await create(folder, data, open);
  try {
    return await open(data);
  } catch (error) {
    throw folderError(error, data, "HF-3014");
  }
}

/**
 * Creating a database takes seconds, and a half-created one can't be opened, so it gets its name when it is complete.
 */
async function create(folder: string, data: string, open: Open): Promise<void> {
  try {
    for (const name of await readdir(folder))
      if (name.startsWith(UNFINISHED)) await rm(path.join(folder, name), { recursive: true, force: true });
    const draft = path.join(folder, `${UNFINISHED}${randomUUID()}`);
    const db = await open(draft);
    await db.close();
    await rename(draft, data);
  } catch (error) {
    throw folderError(error, folder, "HF-3013");
  }
}

async function closeBoth(db: PgliteDatabase, lock: FolderLock): Promise<void> {
  try {
    await db.close();
  } finally {
    await lock.release();
  }
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => null)) !== null;
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: "HF-3003",
  EDQUOT: "HF-3003",
  EACCES: "HF-3004",
  EPERM: "HF-3004",
  EROFS: "HF-3004",
  ENOTDIR: "HF-3004",
  EEXIST: "HF-3004",
  // Node also reports this when it can't create a folder on a read-only disk.
  ENOENT: "HF-3004",
};

function folderError(error: unknown, file: string, otherwise: ErrorCode): HoldfastError {
  if (HoldfastError.is(error)) return error;
  const code = CODES[String((error as { readonly code?: unknown } | null)?.code)] ?? otherwise;
  const message = error instanceof Error ? error.message : String(error);
  return new HoldfastError(code, { file, message }, { cause: error });
}
