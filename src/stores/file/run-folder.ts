import path from "node:path";
import type { Drop } from "../../core/store.ts";
import type { RunRow } from "../../core/types.ts";
import { type Disk, forEach, hasCode, ifThere } from "../disk.ts";
import { checkFolder, type Layout } from "./layout.ts";
import { byPosition, parseRecordName, type RecordName } from "./names.ts";
import { type ParsedRecord, parseRecord } from "./record.ts";
import { FORMAT, isKnownVersion, seal, unseal } from "./sealed.ts";

/** Something in the folder that was not as the store left it, and what became of it. */
export interface Recovered {
  /** `null` for the store's own files. */
  readonly runId: string | null;
  /** Within the store's folder. */
  readonly file: string;
  readonly problem: string;
  /** The name it has now, where it was set aside. */
  readonly keptAs: string | null;
}

/** What a run's folder says. Nothing of it is believed without its checksum. */
export type Loaded =
  | {
      readonly state: "whole";
      readonly row: RunRow;
      /** Of the newest record, when it may not have been carried out in full. */
      readonly drop: Drop | null;
      /** `run.json` says something else. */
      readonly isCopyOld: boolean;
    }
  | { readonly state: "damaged"; readonly problem: string }
  | { readonly state: "absent" };

/** Reads a run from its newest record that is whole. What comes after that one is set aside and reported. */
export async function loadRun(
  disk: Disk,
  layout: Layout,
  id: string,
  report: (found: Recovered) => void,
): Promise<Loaded> {
  const folder = layout.run(id);
  try {
    await checkFolder(disk, folder);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return { state: "absent" };
    if (hasCode(error, "HF-3004", "ELOOP"))
      return { state: "damaged", problem: "Its folder is a symbolic link." };
    throw error;
  }
  const setAside = async (name: string, problem: string): Promise<void> => {
    const keptAs = await rename(disk, folder, name);
    report({ runId: id, file: layout.relative(path.join(folder, name)), problem, keptAs });
  };
  const { records, misnamed } = await recordNames(disk, folder);
  const bad: { readonly name: string; readonly problem: string }[] = [];
  for (const { name } of records.reverse()) {
    const record = await readRecord(disk, folder, { id, name });
    if (!record.ok && record.isNewer) return { state: "damaged", problem: `${name}: ${record.problem}.` };
    if (!record.ok) bad.push({ name, problem: record.problem });
    if (!record.ok || !record.run) continue;
    for (const one of bad) await setAside(one.name, one.problem);
    for (const name of misnamed) await setAside(name, "its name is not one of a record");
    const copy = await readCopy(disk, folder);
    const isCopyOld = copy?.seq !== record.run.seq || copy.head !== record.run.head;
    if (bad.length === 0 && copy && copy.seq > record.run.seq)
      report({ ...lost(layout, folder, copy.seq), runId: id });
    return { state: "whole", row: record.run, drop: isCopyOld ? record.drop : null, isCopyOld };
  }
  const [first] = bad;
  const problem = first ? `${first.name}: ${first.problem}.` : "None of its records is there.";
  return { state: "damaged", problem };
}

const lost = (layout: Layout, folder: string, seq: number): Omit<Recovered, "runId"> => ({
  file: layout.relative(folder),
  problem: `run.json tells of records up to #${seq} that are not there`,
  keptAs: null,
});

/** Records in order of position, and files that are named almost like one. */
export async function recordNames(
  disk: Disk,
  folder: string,
): Promise<{ records: RecordName[]; misnamed: string[] }> {
  const records: RecordName[] = [];
  const misnamed: string[] = [];
  for (const { name } of await disk.list(folder)) {
    const parsed = parseRecordName(name);
    if (parsed === "misnamed") misnamed.push(name);
    else if (parsed) records.push(parsed);
  }
  return { records: records.sort(byPosition), misnamed };
}

/** One record; a file that is missing, or is no file, is a damaged record. */
export async function readRecord(
  disk: Disk,
  folder: string,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<ParsedRecord> {
  try {
    return parseRecord(id, name, await disk.read(path.join(folder, name)));
  } catch (error) {
    const bad = (problem: string): ParsedRecord => ({ ok: false, problem, isNewer: false });
    if (hasCode(error, "ENOENT")) return bad("it is missing");
    if (hasCode(error, "ELOOP", "EISDIR")) return bad("it is not a file");
    if (error instanceof SyntaxError) return bad("it is not JSON");
    throw error;
  }
}

export const readRecords = (
  disk: Disk,
  folder: string,
  id: string,
  names: readonly RecordName[],
): Promise<(ParsedRecord & { readonly name: string })[]> =>
  forEach(names, async ({ name }) => ({ ...(await readRecord(disk, folder, { id, name })), name }));

/** Under a name that is free, so that nothing that was set aside before is lost. */
async function rename(disk: Disk, folder: string, name: string): Promise<string> {
  const taken = new Set((await disk.list(folder)).map((entry) => entry.name));
  let kept = `${name}.bad`;
  for (let i = 1; taken.has(kept); i++) kept = `${name}.bad.${i}`;
  await disk.rename(path.join(folder, name), path.join(folder, kept));
  await disk.syncFolder(folder);
  return kept;
}

/** The run for people to read. The store itself believes it in one thing only: that there was a record at its position. */
export const formatCopy = (row: RunRow): string =>
  seal({ version: FORMAT, checkpoint_id: `${row.id}@${row.seq}`, workflow_id: row.id, run: row });

async function readCopy(disk: Disk, folder: string): Promise<RunRow | undefined> {
  try {
    const bytes = await ifThere(disk.read(path.join(folder, "run.json")));
    const unsealed = bytes && unseal(bytes);
    if (!unsealed || "problem" in unsealed || !isKnownVersion(unsealed.body["version"])) return undefined;
    return unsealed.body["run"] as RunRow;
  } catch {
    return undefined;
  }
}
