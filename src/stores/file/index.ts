import { type FileOptions, type FileStore, openFolder } from "./open.ts";

export type { FileOptions, FileStore } from "./open.ts";
export type { Recovered } from "./run-folder.ts";

/**
 * Opens the files store: one folder for each run, one JSON file for each entry of its journal, each with a checksum. Safe
 * against power loss, made to be read by people and kept in Git, and used by one process at a time.
 *
 * @example
 * ```ts
 * import { openFileStore } from "holdfast/stores/file";
 *
 * export const store = await openFileStore({ folder: "./outputs/checkpoints" });
 * for (const { file, problem } of store.recovered) console.warn(file, problem);
 * ```
 */
export const openFileStore = (options: FileOptions): Promise<FileStore> => openFolder(options);
