import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Archive } from "../../core/manage/retention/archive.ts";
import { bundleText } from "../../core/manage/retention/archives.ts";
import { type Disk, nodeDisk, writeFiles } from "../disk.ts";
import { safeName } from "./names.ts";

/**
 * An archive of retention that is a folder: one bundle per run, `<run>.jsonl`, which `holdfast import` takes. A file is
 * whole or not there; a run that is archived again replaces its file.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { archiveToFolder } from "holdfast/stores/file";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const retention = { maxAge: "7d", onExpiry: "delete", archive: archiveToFolder("./archive") } as const;
 * export const engine = createEngine({ store: await openSqliteStore(), retention });
 * ```
 */
export function archiveToFolder(folder: string, disk: Disk = nodeDisk): Archive {
  const root = path.resolve(folder);
  return async (bundle) => {
    await mkdir(root, { recursive: true, mode: 0o700 });
    const file = path.join(root, `${safeName(bundle.run.id)}.jsonl`);
    const draft = `${file}.${process.pid}.part`;
    let text = "";
    for await (const line of bundleText(bundle)) text += line;
    await disk.removeAll(draft);
    await writeFiles(disk, [{ path: draft, text }]);
    await disk.rename(draft, file);
    await disk.syncFolder(root);
  };
}
