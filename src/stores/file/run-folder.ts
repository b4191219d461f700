import path from "node:path";
import type { Drop } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { type Disk, forEach, hasCode, ifThere } from "../disk.ts";
import { checkFolder, type Layout } from "./layout.ts";
import { byPosition, isPhaseName, NEWEST, parseRecordName, type RecordName, recordName } from "./names.ts";
import { removePhases } from "./phase-file.ts";
import { type ParsedRecord, parseRecord } from "./record.ts";
import { FORMAT, isKnownVersion, seal, unseal } from "./sealed.ts";

/** A file that wasn't as the store left it, and how it was handled. */
export interface Recovered {
  /** `null` for the store's own files. */
  readonly runId: string | null;
  /** The path within the store's folder. */
  readonly file: string;
  readonly problem: string;
  /** The file's new name, if it was set aside. */
  readonly keptAs: string | null;
}

/** The contents of a run's folder. Nothing is trusted without its checksum. */
export type Loaded =
  | {
      readonly state: "whole";
      readonly row: RunRow;
      /** The deletion of the newest record, when it may not have finished. */
      readonly drop: Drop | null;
      /** True when `run.json` differs from the row. */
      readonly isCopyOld: boolean;
    }
  /** `row` is the last known state. */
  | { readonly state: "damaged"; readonly problem: string; readonly row?: RunRow | undefined }
  | { readonly state: "absent" };

/**
 * Loads a run from its newest record. A record is written and synced before it gets its name, so an incomplete one was
 * damaged later, and the run waits for a person. A record is set aside only if `newest.json` proves that it was never
 * acknowledged.
 */
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
  const tell = (name: string, problem: string, keptAs: string | null = null): void =>
    report({ runId: id, file: layout.relative(path.join(folder, name)), problem, keptAs });
  const { records, misnamed, hasPhases } = await recordNames(disk, folder);
  const copy = await readCopy(disk, folder);
  const end = await findEnd(disk, folder, id, records);
  const judged = judge(end, copy);
  if ("problem" in judged) return { state: "damaged", problem: judged.problem, row: end.last?.run ?? copy };
  const { run, drop } = judged.record;
  for (const { name, problem } of end.bad) tell(name, problem, await rename(disk, folder, name));
  for (const name of misnamed)
    tell(name, "its name is not one of a record", await rename(disk, folder, name));
  if (judged.isGone) {
    const name = recordName(judged.record.entry.seq, judged.record.timestamp);
    await disk.link(path.join(folder, NEWEST), path.join(folder, name));
    await disk.syncFolder(folder);
    tell(name, `it was missing, and is there again from ${NEWEST}`);
  } else if (end.witness?.run.seq !== run.seq) {
    await pointTo(disk, layout, folder, recordName(judged.record.entry.seq, judged.record.timestamp));
  }
  // A crash may have left a file of a phase whose event never came.
  if (hasPhases) await removePhases(disk, folder, id, (seq) => seq > run.seq);
  const isCopyOld = copy?.seq !== run.seq || copy.head !== run.head;
  return { state: "whole", row: run, drop: isCopyOld ? drop : null, isCopyOld };
}

/** A record that includes the row after it. */
type LastRecord = Extract<ParsedRecord, { readonly ok: true }> & { readonly run: RunRow };

interface End {
  /** The newest intact record. */
  readonly last: LastRecord | undefined;
  /** The damaged records after it. */
  readonly bad: readonly { readonly name: string; readonly problem: string }[];
  /** Set when a newer, unknown version wrote the newest record. */
  readonly newer: string | undefined;
  /** The content of `newest.json`, if it is intact. */
  readonly witness: LastRecord | undefined;
}

async function findEnd(disk: Disk, folder: string, id: string, records: readonly RecordName[]): Promise<End> {
  const bad: { name: string; problem: string }[] = [];
  for (const { name } of records.toReversed()) {
    const record = await readRecord(disk, folder, { id, name });
    if (!record.ok && record.isNewer)
      return { last: undefined, bad, newer: `${name}: ${record.problem}.`, witness: undefined };
    if (!record.ok) bad.push({ name, problem: record.problem });
    if (!record.ok || !record.run) continue;
    const last = { ...record, run: record.run };
    const isOne = bad.length === 0 && (await isSameFile(disk, folder, name));
    return { last, bad, newer: undefined, witness: isOne ? last : await readWitness(disk, folder, id) };
  }
  return { last: undefined, bad, newer: undefined, witness: await readWitness(disk, folder, id) };
}

type Judged =
  | { readonly problem: string }
  /** `isGone`: the record's own file is missing. */
  | { readonly record: LastRecord; readonly isGone: boolean };

/** Decides which record the run is at, or explains why that can't be known. */
function judge({ last, bad, newer, witness }: End, copy: RunRow | undefined): Judged {
  if (newer !== undefined) return { problem: newer };
  const [first] = bad;
  // An append is acknowledged only after its record has the second name.
  const isUnacknowledged = witness !== undefined && last?.run.head === witness.run.head;
  if (first && !isUnacknowledged) return { problem: `${first.name}: ${first.problem}.` };
  const isGone = witness !== undefined && witness.run.seq > (last?.run.seq ?? 0);
  const record = isGone ? witness : last;
  if (!record) return { problem: "None of its records is there." };
  if (copy && copy.seq > record.run.seq)
    return { problem: `run.json lists records up to #${copy.seq}, which are missing.` };
  if (!witness && record.hasWitness && copy?.head !== record.run.head)
    return { problem: `${NEWEST} is missing or damaged, and nothing else says which record is the last.` };
  return { record, isGone };
}

async function isSameFile(disk: Disk, folder: string, name: string): Promise<boolean> {
  const [one, other] = [
    await disk.inode(path.join(folder, name)),
    await disk.inode(path.join(folder, NEWEST)),
  ];
  return one !== null && one === other;
}

async function readWitness(disk: Disk, folder: string, id: string): Promise<LastRecord | undefined> {
  const record = await readRecord(disk, folder, { id, name: NEWEST });
  return record.ok && record.run ? { ...record, run: record.run } : undefined;
}

async function pointTo(disk: Disk, layout: Layout, folder: string, name: string): Promise<void> {
  const draft = layout.temporary();
  await disk.link(path.join(folder, name), draft);
  await disk.rename(draft, path.join(folder, NEWEST));
  await disk.syncFolder(folder);
}

/** Records in order of position, and files whose names almost look like records. */
export async function recordNames(
  disk: Disk,
  folder: string,
): Promise<{ records: RecordName[]; misnamed: string[]; hasPhases: boolean }> {
  const records: RecordName[] = [];
  const misnamed: string[] = [];
  let hasPhases = false;
  for (const { name } of await disk.list(folder)) {
    const parsed = parseRecordName(name);
    hasPhases ||= isPhaseName(name);
    if (parsed === "misnamed") misnamed.push(name);
    else if (parsed) records.push(parsed);
  }
  return { records: records.sort(byPosition), misnamed, hasPhases };
}

/** Reads one record. A missing file, or anything that isn't a file, counts as a damaged record. */
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

/** Renames to a free name, so that nothing set aside earlier is overwritten. */
async function rename(disk: Disk, folder: string, name: string): Promise<string> {
  const taken = new Set((await disk.list(folder)).map((entry) => entry.name));
  let kept = `${name}.bad`;
  for (let i = 1; taken.has(kept); i++) kept = `${name}.bad.${i}`;
  await disk.rename(path.join(folder, name), path.join(folder, kept));
  await disk.syncFolder(folder);
  return kept;
}

/** The run in a form for people. The store trusts it in one point only: that a record existed at its position. */
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
