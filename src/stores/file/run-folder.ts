import path from "node:path";
import type { Drop } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { type Disk, forEach, hasCode, ifThere } from "../disk.ts";
import { checkFolder, type Layout } from "./layout.ts";
import { byPosition, NEWEST, parseRecordName, type RecordName, recordName } from "./names.ts";
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
  /** `row`: the last that is known of it. */
  | { readonly state: "damaged"; readonly problem: string; readonly row?: RunRow | undefined }
  | { readonly state: "absent" };

/**
 * Reads a run from its newest record. A record is written and synced before it has its name, so one that is not whole was damaged
 * later, and the run waits for somebody to look at it. Only what `newest.json` proves to have been acknowledged by nobody is set aside.
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
  const { records, misnamed } = await recordNames(disk, folder);
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
  const isCopyOld = copy?.seq !== run.seq || copy.head !== run.head;
  return { state: "whole", row: run, drop: isCopyOld ? drop : null, isCopyOld };
}

/** A record that says how its run stood after it. */
type LastRecord = Extract<ParsedRecord, { readonly ok: true }> & { readonly run: RunRow };

interface End {
  /** The newest record that is whole. */
  readonly last: LastRecord | undefined;
  /** Records after that one which are not. */
  readonly bad: readonly { readonly name: string; readonly problem: string }[];
  /** A version this one does not know wrote the newest. */
  readonly newer: string | undefined;
  /** What `newest.json` holds, if it is whole. */
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
  /** `isGone`: its own file is not there. */
  | { readonly record: LastRecord; readonly isGone: boolean };

/** Which record the run stands at, or why nobody can say. */
function judge({ last, bad, newer, witness }: End, copy: RunRow | undefined): Judged {
  if (newer !== undefined) return { problem: newer };
  const [first] = bad;
  // Whoever was told of a record was told after this one had its second name.
  const isUnacknowledged = witness !== undefined && last?.run.head === witness.run.head;
  if (first && !isUnacknowledged) return { problem: `${first.name}: ${first.problem}.` };
  const isGone = witness !== undefined && witness.run.seq > (last?.run.seq ?? 0);
  const record = isGone ? witness : last;
  if (!record) return { problem: "None of its records is there." };
  if (copy && copy.seq > record.run.seq)
    return { problem: `run.json tells of records up to #${copy.seq} that are not there.` };
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
