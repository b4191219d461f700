import { type FileOptions, type FileStore, openFolder } from "./open.ts";

export { archiveToFolder } from "./archive.ts";
export type { FileOptions, FileStore } from "./open.ts";
export { checkPhaseFile, type PhaseFile } from "./phase-file.ts";
export type { Recovered } from "./run-folder.ts";

/**
 * Opens the files store: one folder per run and one JSON file per journal entry, each with a checksum. Safe against
 * power loss, readable by people, suitable for Git, and used by one process at a time.
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
