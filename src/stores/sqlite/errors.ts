import { type ErrorCode, HoldfastError } from "../../core/errors.ts";

/** Primary result codes with SQLite's own text for them. */
const RESULTS: readonly (readonly [code: number, name: string, text: string])[] = [
  [3, "PERM", "access permission denied"],
  [5, "BUSY", "database is locked"],
  [6, "LOCKED", "database table is locked"],
  [8, "READONLY", "attempt to write a readonly database"],
  [10, "IOERR", "disk I/O error"],
  [11, "CORRUPT", "database disk image is malformed"],
  [13, "FULL", "database or disk is full"],
  [14, "CANTOPEN", "unable to open database file"],
  [15, "PROTOCOL", "locking protocol"],
  [26, "NOTADB", "file is not a database"],
];

const CODES: Readonly<Record<string, ErrorCode>> = {
  FULL: "HF-3003",
  ENOSPC: "HF-3003",
  EDQUOT: "HF-3003",
  PERM: "HF-3004",
  READONLY: "HF-3004",
  CANTOPEN: "HF-3004",
  EACCES: "HF-3004",
  EPERM: "HF-3004",
  EROFS: "HF-3004",
  EISDIR: "HF-3004",
  ENOTDIR: "HF-3004",
  // Node also reports this when it can't create a folder on a read-only disk.
  ENOENT: "HF-3004",
  CORRUPT: "HF-3014",
  NOTADB: "HF-3006",
};

/**
 * The cause in one word: a primary SQLite code without its prefix, or an errno name. better-sqlite3 gives names; the
 * others give numbers, but @photostructure/sqlite omits them from errors raised while reading rows.
 */
function causeOf(error: unknown): string {
  const { code, errcode, message } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof errcode === "number")
    return RESULTS.find(([number]) => number === (errcode & 0xff))?.[1] ?? "OTHER";
  if (code === "ERR_SQLITE_ERROR") return RESULTS.find(([, , text]) => message === text)?.[1] ?? "OTHER";
  if (typeof code !== "string") return "OTHER";
  return /^SQLITE_([A-Z]+)/.exec(code)?.[1] ?? code;
}

/** True when another connection holds the lock. Nothing was written, and a later retry can succeed. */
export function isBusy(error: unknown): boolean {
  return ["BUSY", "LOCKED", "PROTOCOL"].includes(causeOf(error));
}

/** True when SQLite opened the file for reading only. */
export const isReadOnly = (error: unknown): boolean => causeOf(error) === "READONLY";

/** True for a fault of the file or the disk, as opposed to an invalid statement. */
export function isStoreFault(error: unknown): boolean {
  const cause = causeOf(error);
  return isBusy(error) || cause === "IOERR" || Object.hasOwn(CODES, cause);
}

/** Converts any failure to an error that a person can act on. */
export function storeError(error: unknown, file: string): HoldfastError {
  if (HoldfastError.is(error)) return error;
  const code = CODES[causeOf(error)] ?? "HF-3013";
  const message = error instanceof Error ? error.message : String(error);
  return new HoldfastError(code, { file, message }, { cause: error });
}
