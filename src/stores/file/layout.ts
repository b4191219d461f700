import path from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import type { Disk } from "../disk.ts";
import { safeName } from "./names.ts";

/**
 * The paths within a store's folder:
 *
 *   store.json      who the store is            lock.json    who uses it
 *   claims.json     claims that were renewed    tmp/         files that are not yet whole
 *   documents/<kind>/<key>.json                    what belongs to the store and not to a run
 *   runs/<run>/checkpoint_<position>_<time>.json   one journal entry each; the newest is also the run as it stands
 *   runs/<run>/checkpoint_phase<n>_<time>.json     the record of a phase, for people
 *   runs/<run>/newest.json                         a second name of the newest of them
 *   runs/<run>/run.json                            the same for people, a moment later
 *   runs/<run>/blobs/<hash>.txt                    long values
 */
export class Layout {
  readonly root: string;
  readonly runs: string;
  readonly identity: string;
  readonly claims: string;
  readonly tmp: string;
  #count = 0;

  /** `root` must not contain a symbolic link. */
  constructor(root: string) {
    this.root = root;
    this.runs = path.join(root, "runs");
    this.identity = path.join(root, "store.json");
    this.claims = path.join(root, "claims.json");
    this.tmp = path.join(root, "tmp");
  }

  /** The id must have been checked: file names are only ever built from checked ids. */
  run(id: string): string {
    return path.join(this.runs, safeName(id));
  }

  documents(kind: string): string {
    return path.join(this.root, "documents", safeName(kind));
  }

  /** An unused name in `tmp`, which is emptied when the store is opened. */
  temporary(): string {
    return path.join(this.tmp, String(++this.#count));
  }

  relative(file: string): string {
    return path.relative(this.root, file);
  }
}

export const blobsIn = (folder: string): string => path.join(folder, "blobs");
export const blobFile = (folder: string, hash: string): string =>
  path.join(blobsIn(folder), `${safeName(hash)}.txt`);

/** Refuses a folder that is, or lies behind, a symbolic link: writing there could reach outside the store. */
export async function checkFolder(disk: Disk, folder: string): Promise<void> {
  if ((await disk.realpath(folder)) === folder) return;
  throw new HoldfastError("HF-3004", { file: folder, message: "A symbolic link leads out of the folder." });
}
