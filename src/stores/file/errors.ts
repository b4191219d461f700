import { type ErrorCode, HoldfastError } from "../../core/errors.ts";

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: "HF-3003",
  EDQUOT: "HF-3003",
  EACCES: "HF-3004",
  EPERM: "HF-3004",
  EROFS: "HF-3004",
  EISDIR: "HF-3004",
  ENOTDIR: "HF-3004",
  // A file exists where a folder should be.
  EEXIST: "HF-3004",
};

/** Converts any failure to an error that a person can act on. */
export function storeError(error: unknown, file: string): HoldfastError {
  if (HoldfastError.is(error)) return error;
  const code = CODES[String((error as { code?: unknown } | null)?.code)] ?? "HF-3013";
  const message = error instanceof Error ? error.message : String(error);
  return new HoldfastError(code, { file, message }, { cause: error });
}
