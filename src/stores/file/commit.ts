import path from "node:path";
import type { Blob, Drop } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { type Disk, forEach, hasCode, ifThere, writeFiles } from "../disk.ts";
import { carryOut } from "./drop.ts";
import { blobFile, blobsIn, checkFolder, type Layout } from "./layout.ts";
import { NEWEST, phaseName, type RecordName } from "./names.ts";

/** The changes that one flush makes to one run. */
export interface RunPlan {
  readonly id: string;
  readonly isNew: boolean;
  readonly records: (RecordName & { readonly text: string })[];
  readonly blobs: Map<string, string>;
  /** Files of phases: for people, and in place before the records that they show. */
  readonly phases: { readonly phase: number; readonly timestamp: string; readonly text: string }[];
  /** At most one, from the last append: the next append waits until it has been carried out. */
  drop: Drop | null;
  /** The row after all of these appends. */
  row: RunRow;
}

interface Draft {
  readonly path: string;
  readonly text: string;
  readonly to: string;
}

/**
 * Writes the plans of one flush. Contents come before names: every file is written and synced under a temporary name,
 * then linked to its own, and a new run is one folder that is renamed into place. So a record is either complete or
 * absent, and everything it points to exists before it. Returns the runs for which another writer had already taken the
 * name.
 */
export async function commit(disk: Disk, layout: Layout, plans: readonly RunPlan[]): Promise<Set<string>> {
  const drafts: Drafts = { folders: [], blobs: [], phases: [], records: [] };
  const lost = new Set<string>();
  try {
    const there = await withFolder(disk, layout, plans, lost);
    await write(disk, layout, there, drafts);
    await place(disk, layout, drafts, lost);
  } catch (error) {
    await forEach(drafts.folders, ({ folder }) => disk.removeAll(folder)).catch(() => undefined);
    throw error;
  } finally {
    const files = [...drafts.blobs, ...drafts.phases, ...drafts.records.flatMap(({ files }) => files)];
    await forEach(files, (file) => ifThere(disk.unlink(file.path))).catch(() => undefined);
  }
  for (const { id, drop } of plans) if (drop && !lost.has(id)) await carryOut(disk, layout, id, drop);
  return lost;
}

interface Drafts {
  folders: readonly DraftFolder[];
  blobs: readonly Draft[];
  phases: readonly PhaseDraft[];
  records: readonly { readonly id: string; readonly files: readonly Draft[] }[];
}

/** Keeps a missing folder of one run from failing the others. */
async function withFolder(
  disk: Disk,
  layout: Layout,
  plans: readonly RunPlan[],
  lost: Set<string>,
): Promise<readonly RunPlan[]> {
  await forEach(
    plans.filter(({ isNew }) => !isNew),
    async ({ id }) => {
      try {
        await checkFolder(disk, layout.run(id));
      } catch (error) {
        if (!hasCode(error, "ENOENT", "ENOTDIR")) throw error;
        lost.add(id);
      }
    },
  );
  return plans.filter(({ id }) => !lost.has(id));
}

/** Writes everything under temporary names. */
async function write(disk: Disk, layout: Layout, plans: readonly RunPlan[], drafts: Drafts): Promise<void> {
  const added = plans.filter(({ isNew }) => !isNew);
  drafts.folders = plans.filter(({ isNew }) => isNew).map((plan) => draftFolder(layout, plan));
  await forEach(drafts.folders, async ({ folder, hasBlobs }) => {
    await disk.makeFolder(folder);
    if (hasBlobs) await disk.makeFolder(blobsIn(folder));
  });
  drafts.blobs = await draftBlobs(disk, layout, added);
  drafts.phases = added.flatMap(({ id, phases }) =>
    phases.map(({ phase, timestamp, text }) => ({ id, phase, timestamp, path: layout.temporary(), text })),
  );
  drafts.records = added.map(({ id, records }) => ({
    id,
    files: records.map(({ name, text }) => draft(layout, path.join(layout.run(id), name), text)),
  }));
  const inPlace = drafts.records.flatMap(({ files }) => files);
  await writeFiles(disk, [
    ...drafts.blobs,
    ...drafts.phases,
    ...inPlace,
    ...drafts.folders.flatMap(({ files }) => files),
  ]);
  await forEach(drafts.folders, async ({ folder, last, hasBlobs }) => {
    await disk.link(last, path.join(folder, NEWEST));
    if (hasBlobs) await disk.syncFolder(blobsIn(folder));
    await disk.syncFolder(folder);
  });
}

/** Links the files to their own names: blobs before the records that may name them. */
async function place(
  disk: Disk,
  layout: Layout,
  { folders, blobs, phases, records }: Drafts,
  lost: Set<string>,
): Promise<void> {
  await forEach(blobs, ({ path: from, to }) => disk.rename(from, to));
  await forEach([...new Set(blobs.map(({ to }) => path.dirname(to)))], (folder) => disk.syncFolder(folder));
  const shown: (readonly [id: string, file: string])[] = [];
  for (const one of phases) shown.push([one.id, await linkPhase(disk, layout.run(one.id), one)]);
  await forEach(records, async ({ id, files }) => {
    if (!(await isLinked(disk, files))) lost.add(id);
  });
  for (const [id, file] of shown) if (lost.has(id)) await ifThere(disk.unlink(file));
  await forEach(folders, async ({ id, folder }) => {
    if (!(await isRenamed(disk, folder, layout.run(id)))) lost.add(id);
  });
  const grown = records.map(({ id }) => layout.run(id));
  await forEach(folders.length > 0 ? [...grown, layout.runs] : grown, (folder) => disk.syncFolder(folder));
}

interface PhaseDraft {
  readonly id: string;
  readonly phase: number;
  readonly timestamp: string;
  readonly path: string;
  readonly text: string;
}

/** Links the file to the first name that is free. */
async function linkPhase(disk: Disk, folder: string, draft: PhaseDraft): Promise<string> {
  for (let count = 1; ; count++) {
    const file = path.join(folder, phaseName(draft.phase, draft.timestamp, count));
    try {
      await disk.link(draft.path, file);
      return file;
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
  }
}

/** The files of phases in a new folder, where no name is taken yet. */
function newPhases(folder: string, phases: RunPlan["phases"]): { path: string; text: string }[] {
  const taken = new Set<string>();
  return phases.map(({ phase, timestamp, text }) => {
    let count = 1;
    while (taken.has(phaseName(phase, timestamp, count))) count++;
    taken.add(phaseName(phase, timestamp, count));
    return { path: path.join(folder, phaseName(phase, timestamp, count)), text };
  });
}

const draft = (layout: Layout, to: string, text: string): Draft => ({ path: layout.temporary(), text, to });

interface DraftFolder {
  readonly id: string;
  readonly folder: string;
  readonly hasBlobs: boolean;
  /** Its newest record. */
  readonly last: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

/** A new run, complete in a folder that no reader looks into. */
function draftFolder(layout: Layout, { id, records, blobs, phases }: RunPlan): DraftFolder {
  const folder = layout.temporary();
  const files = [
    ...records.map(({ name, text }) => ({ path: path.join(folder, name), text })),
    ...[...blobs].map(([hash, text]) => ({ path: blobFile(folder, hash), text })),
    ...newPhases(folder, phases),
  ];
  const last = path.join(folder, records.at(-1)?.name ?? "");
  return { id, folder, hasBlobs: blobs.size > 0, last, files };
}

/** Blobs that are missing or damaged. */
async function draftBlobs(disk: Disk, layout: Layout, plans: readonly RunPlan[]): Promise<Draft[]> {
  const drafts: Draft[] = [];
  for (const { id, blobs } of plans) {
    if (blobs.size === 0) continue;
    const folder = layout.run(id);
    await ensureFolder(disk, folder, blobsIn(folder));
    const wanted: Blob[] = [...blobs].map(([hash, data]) => ({ hash, data }));
    const isThere = await forEach(wanted, async ({ hash, data }) => {
      const bytes = await ifThere(disk.read(blobFile(folder, hash)));
      return bytes?.equals(Buffer.from(data)) ?? false;
    });
    const missing = wanted.filter((_, index) => !isThere[index]);
    drafts.push(...missing.map(({ hash, data }) => draft(layout, blobFile(folder, hash), data)));
  }
  return drafts;
}

async function ensureFolder(disk: Disk, parent: string, folder: string): Promise<void> {
  try {
    await disk.makeFolder(folder);
    await disk.syncFolder(parent);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    await checkFolder(disk, folder);
  }
}

/**
 * Links one record after another, so that a crash leaves the first ones and never a gap. The temporary name of the last
 * becomes its second name.
 */
async function isLinked(disk: Disk, records: readonly Draft[]): Promise<boolean> {
  for (const { path: from, to } of records) {
    try {
      await disk.link(from, to);
    } catch (error) {
      if (hasCode(error, "EEXIST")) return false;
      throw error;
    }
  }
  const last = records.at(-1);
  if (last) await disk.rename(last.path, path.join(path.dirname(last.to), NEWEST));
  return true;
}

async function isRenamed(disk: Disk, from: string, to: string): Promise<boolean> {
  try {
    await disk.rename(from, to);
    return true;
  } catch (error) {
    if (!hasCode(error, "EEXIST", "ENOTEMPTY", "EPERM", "ENOTDIR")) throw error;
    await disk.removeAll(from);
    return false;
  }
}
