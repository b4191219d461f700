import { randomUUID } from "node:crypto";
import { createWriteStream, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isRecord } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";

type Content = AsyncIterable<string> | readonly (string | Uint8Array)[];

/** What the system's refusals mean for somebody who has named a path. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "its folder doesn't exist",
  ENOTDIR: "a part of its path is a file, and has to be a folder",
  EEXIST: "a file is there, and it has to be a folder",
  EISDIR: "it is a folder, and has to be a file",
  EACCES: "this user may not do that there",
  EPERM: "the system doesn't allow it",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  ENAMETOOLONG: "its name is too long",
  ELOOP: "its links lead in a circle",
  EMFILE: "too many files are open",
};

/** A refusal of the file system as an error that a person can act on; anything else as it is. */
export function fileError(error: unknown, named?: string): unknown {
  if (!(error instanceof Error) || HoldfastError.is(error) || !isRecord(error)) return error;
  const { code, syscall, path, dest } = error;
  const file = [named, dest, path].find((one) => typeof one === "string");
  const problem = REASONS[String(code)];
  if (problem === undefined || typeof syscall !== "string" || file === undefined) return error;
  const why = `The system refused it (${syscall}: ${String(code)}).`;
  return new HoldfastError("HF-4324", { file, problem, why }, { cause: error });
}

/** Writes a file that only its owner may read, whole or not at all, and returns its size. */
export async function writeWhole(file: string, content: Content): Promise<number> {
  const draft = join(dirname(file), `.${basename(file)}.${randomUUID()}`);
  let size = 0;
  const counted = async function* (): AsyncGenerator<string | Uint8Array> {
    for await (const part of content) {
      size += Buffer.byteLength(part);
      yield part;
    }
  };
  try {
    await pipeline(Readable.from(counted()), createWriteStream(draft, { mode: 0o600, flush: true }));
    renameSync(draft, file);
  } catch (error) {
    removeDraft(draft);
    throw fileError(error, file);
  }
  return size;
}

/** Opens a file that lines are added to, and makes its folder. */
export function openToAppend(file: string): number {
  try {
    mkdirSync(dirname(file), { recursive: true });
    return openSync(file, "a");
  } catch (error) {
    throw fileError(error, file);
  }
}

/** The reason why it wasn't written matters more than a draft that can't be removed. */
function removeDraft(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // Where the path leads through a file, there is no draft.
  }
}
