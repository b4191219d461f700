import { type ErrorCode, HoldfastError } from "../../core/errors.ts";

/** Primary result codes, by number as node:sqlite gives them. better-sqlite3 gives names. */
const NAMES: Readonly<Record<number, string>> = {
  3: "PERM",
  5: "BUSY",
  6: "LOCKED",
  8: "READONLY",
  10: "IOERR",
  11: "CORRUPT",
  13: "FULL",
  14: "CANTOPEN",
  15: "PROTOCOL",
  26: "NOTADB",
};

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
  CORRUPT: "HF-3006",
  NOTADB: "HF-3006",
};

/** What went wrong, in one word: a primary SQLite code without its prefix, or an errno name. */
function causeOf(error: unknown): string {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (typeof errcode === "number") return NAMES[errcode & 0xff] ?? "OTHER";
  if (typeof code !== "string") return "OTHER";
  return /^SQLITE_([A-Z]+)/.exec(code)?.[1] ?? code;
}

/** Another connection is in the way; the same statement will do later. Nothing was written. */
export function isBusy(error: unknown): boolean {
  return ["BUSY", "LOCKED", "PROTOCOL"].includes(causeOf(error));
}

/** A fault of the file or the disk, as opposed to a statement that is wrong in itself. */
export function isStoreFault(error: unknown): boolean {
  const cause = causeOf(error);
  return isBusy(error) || cause === "IOERR" || Object.hasOwn(CODES, cause);
}

/** Any failure as the error a person can act on. */
export function storeError(error: unknown, file: string): HoldfastError {
  if (HoldfastError.is(error)) return error;
  const code = CODES[causeOf(error)] ?? "HF-3013";
  const message = error instanceof Error ? error.message : String(error);
  return new HoldfastError(code, { file, message }, { cause: error });
}
