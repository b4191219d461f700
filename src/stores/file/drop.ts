import path from "node:path";
import type { Drop } from "../../core/store/contract.ts";
import { type Disk, forEach, hasCode, ifThere, writeFiles } from "../disk.ts";
import { blobFile, blobsIn, type Layout } from "./layout.ts";
import { isSetAside } from "./names.ts";
import { removePhases } from "./phase-file.ts";
import { formatRecord } from "./record.ts";
import { readRecords, recordNames } from "./run-folder.ts";

/**
 * Deletes values of a run. The record of the deletion is durable before this starts, so a deletion that a crash
 * interrupts is finished when the run is next loaded: a value may stay a little longer than asked, but never goes too
 * early.
 */
export async function carryOut(disk: Disk, layout: Layout, id: string, drop: Drop): Promise<void> {
  const folder = layout.run(id);
  const gone = new Set(drop.records);
  if (gone.size > 0) await removePhases(disk, folder, id, (seq) => gone.has(seq));
  await forgetData(disk, layout, { id, folder, seqs: new Set(drop.entries) });
  if (drop.blobs.length === 0) return;
  await forEach(drop.blobs, (hash) => ifThere(disk.unlink(blobFile(folder, hash))));
  try {
    await disk.syncFolder(blobsIn(folder));
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
}

/**
 * Removes a run: its folder loses its name in one rename, and everything in `tmp` is deleted, here or when the store is
 * next opened.
 */
export async function removeRun(disk: Disk, layout: Layout, id: string): Promise<void> {
  const gone = layout.temporary();
  await disk.rename(layout.run(id), gone);
  await disk.syncFolder(layout.runs);
  await disk.removeAll(gone);
}

interface Forgotten {
  readonly id: string;
  readonly folder: string;
  readonly seqs: ReadonlySet<number>;
}

async function forgetData(disk: Disk, layout: Layout, { id, folder, seqs }: Forgotten): Promise<void> {
  if (seqs.size === 0) return;
  const { records } = await recordNames(disk, folder);
  const named = records.filter(({ seq }) => seqs.has(seq));
  const found = await readRecords(disk, folder, id, named);
  const rewritten = found.flatMap((record) => {
    if (!record.ok || record.entry.data === null) return [];
    const text = formatRecord(id, { ...record, entry: { ...record.entry, data: null } });
    return [{ path: layout.temporary(), text, to: path.join(folder, record.name) }];
  });
  await writeFiles(disk, rewritten);
  await forEach(rewritten, ({ path: from, to }) => disk.rename(from, to));
  // Records set aside at these positions held the same values.
  const aside = (await disk.list(folder)).filter(({ name }) => isSetAside(name, seqs));
  await forEach(aside, ({ name }) => ifThere(disk.unlink(path.join(folder, name))));
  await disk.syncFolder(folder);
}
