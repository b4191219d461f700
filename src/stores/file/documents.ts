import path from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import {
  checkedDocuments,
  type Documents,
  type DocumentWrite,
  pageOf,
  type StoredDocument,
} from "../../core/store/documents.ts";
import { type Disk, forEach, hasCode, ifThere, writeFiles } from "../disk.ts";
import { checkFolder, type Layout } from "./layout.ts";
import { safeName } from "./names.ts";
import { FORMAT, seal, unseal } from "./sealed.ts";

/** How the store runs a read, and a write in its turn. */
interface Access {
  readonly disk: Disk;
  readonly layout: Layout;
  readonly read: <T>(work: () => Promise<T>) => Promise<T>;
  readonly write: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Documents as files, `documents/<kind>/<key>.json`, each with its checksum and put in place by one rename. They are
 * read from the disk each time: what a failed write left behind is what the next reader finds.
 */
export const documentsIn = (access: Access): Documents => {
  /** Folders whose names may not be safe against power loss, because syncing them failed. */
  const unsynced = new Set<string>();
  const settle = async (): Promise<void> => {
    for (const folder of unsynced) {
      await access.disk.syncFolder(folder);
      unsynced.delete(folder);
    }
  };
  return checkedDocuments({
    read: (kind, key) => access.read(() => readOne(access, kind, key)),
    list: (kind, page) =>
      access.read(async () => {
        const folder = access.layout.documents(kind);
        const names = (await ifThere(access.disk.list(folder))) ?? [];
        const files = names.filter((one) => one.isFile() && one.name.endsWith(".json"));
        const found = await forEach(files, ({ name }) => readFile(access, kind, path.join(folder, name)));
        return pageOf(
          found.filter((one) => one !== null),
          page,
        );
      }),
    write: (batch) =>
      access.write(async () => {
        await settle();
        const results: boolean[] = [];
        for (const one of batch) results.push(await apply(access, unsynced, one));
        return results;
      }),
  });
};

const fileOf = (layout: Layout, kind: string, key: string): string =>
  path.join(layout.documents(kind), `${safeName(key)}.json`);

async function readOne(access: Access, kind: string, key: string): Promise<StoredDocument | null> {
  const found = await readFile(access, kind, fileOf(access.layout, kind, key));
  if (found && found.key !== key) throw damaged(kind, key, "Its file holds another document.");
  return found;
}

async function readFile(
  { disk, layout }: Access,
  kind: string,
  file: string,
): Promise<StoredDocument | null> {
  const bytes = await ifThere(disk.read(file));
  if (!bytes) return null;
  const problem = (text: string): HoldfastError => damaged(kind, path.basename(file, ".json"), text);
  const unsealed = unseal(bytes);
  if ("problem" in unsealed) throw problem(`${layout.relative(file)}: ${unsealed.problem}.`);
  const { kind: of, key, document, value } = unsealed.body;
  if (of !== kind || typeof key !== "string" || typeof document !== "string" || typeof value !== "string")
    throw problem(`${layout.relative(file)} holds something else.`);
  return { kind, key, version: document, value };
}

const damaged = (kind: string, key: string, problem: string): HoldfastError =>
  new HoldfastError("HF-3091", { kind, key, problem });

async function apply(
  access: Access,
  unsynced: Set<string>,
  { kind, key, expect, put }: DocumentWrite,
): Promise<boolean> {
  if (((await readOne(access, kind, key))?.version ?? null) !== expect) return false;
  const { disk, layout } = access;
  const [folder, file] = [layout.documents(kind), fileOf(layout, kind, key)];
  if (put) {
    await makeFolders(disk, [path.dirname(folder), folder]);
    const draft = layout.temporary();
    const text = seal({ version: FORMAT, kind, key, document: put.version, value: put.value });
    await writeFiles(disk, [{ path: draft, text }]);
    unsynced.add(folder);
    await disk.rename(draft, file);
  } else {
    if (expect === null) return true;
    unsynced.add(folder);
    await disk.unlink(file);
  }
  await disk.syncFolder(folder);
  unsynced.delete(folder);
  return true;
}

async function makeFolders(disk: Disk, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    try {
      await disk.makeFolder(folder);
      await disk.syncFolder(path.dirname(folder));
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
    await checkFolder(disk, folder);
  }
}
