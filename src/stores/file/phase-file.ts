import path from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import {
  checkRecord,
  type PhaseCheckpointRow,
  type RecordRow,
  type StoredRecord,
} from "../../core/records.ts";
import { type Disk, forEach, hasCode, ifThere } from "../disk.ts";
import { isPhaseName } from "./names.ts";
import { isKnownVersion, seal, unseal } from "./sealed.ts";

/**
 * `checkpoint_phase{N}_{timestamp}.json`: one record of a phase, complete in itself. The store writes it beside the
 * journal and never restores anything from it; so a damaged or foreign file of this name stops nothing.
 */
export const formatPhase = (runId: string, { seq, row }: StoredRecord): string =>
  seal({ ...withoutNulls(row), run_id: runId, position: seq });

const withoutNulls = (row: RecordRow): RecordRow =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));

/** The content of a phase's file, or what is wrong with it. */
export type PhaseFile =
  | {
      readonly ok: true;
      readonly row: PhaseCheckpointRow;
      /** The run and the position of the event that it shows; missing in a file that this store didn't write. */
      readonly runId?: string;
      readonly position?: number;
      /** False for a file without a checksum: it has the right form, and nothing proves that it is unchanged. */
      readonly sealed: boolean;
    }
  | { readonly ok: false; readonly problem: string };

/** Reads a file `checkpoint_phase{N}_{timestamp}.json` and checks it: checksum, version and every field. */
export function checkPhaseFile(bytes: Uint8Array): PhaseFile {
  const text = Buffer.from(bytes);
  const body = bodyOf(text);
  if ("problem" in body) return { ok: false, problem: body.problem };
  const { run_id, position, checksum: _, ...fields } = body.fields;
  if (!isKnownVersion(fields["version"]))
    return { ok: false, problem: `it is of version ${String(fields["version"])}` };
  try {
    const { row } = checkRecord({ table: "phase_checkpoints", row: fields });
    const known =
      typeof run_id === "string" && typeof position === "number" ? { runId: run_id, position } : {};
    return { ok: true, row: row as unknown as PhaseCheckpointRow, sealed: body.sealed, ...known };
  } catch (error) {
    if (!HoldfastError.is(error, "HF-3070")) throw error;
    return { ok: false, problem: `its ${error.detail["column"]} ${error.detail["problem"]}` };
  }
}

type Body =
  | { readonly fields: Readonly<Record<string, unknown>>; readonly sealed: boolean }
  | { readonly problem: string };

function bodyOf(bytes: Buffer): Body {
  try {
    const unsealed = unseal(bytes);
    if ("body" in unsealed) return { fields: unsealed.body, sealed: true };
    const parsed: unknown = JSON.parse(bytes.toString("utf8"));
    const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
    if (!isObject) return { problem: "it is not a JSON object" };
    if ("checksum" in parsed) return unsealed;
    return { fields: parsed as Readonly<Record<string, unknown>>, sealed: false };
  } catch {
    return { problem: "it is not JSON: it was cut short or changed" };
  }
}

/** A phase's file of this run that is whole. */
interface OwnFile {
  readonly name: string;
  readonly record: StoredRecord;
}

/** The whole files of phases in a run's folder that belong to this run. */
export async function phasesIn(disk: Disk, folder: string, runId: string): Promise<readonly OwnFile[]> {
  const names = (await disk.list(folder)).map(({ name }) => name).filter(isPhaseName);
  const found = await forEach(names, async (name): Promise<OwnFile[]> => {
    const bytes = await readable(disk, path.join(folder, name));
    const file = bytes && checkPhaseFile(bytes);
    if (!file?.ok || !file.sealed || file.runId !== runId || file.position === undefined) return [];
    const row = file.row as unknown as RecordRow;
    return [{ name, record: { table: "phase_checkpoints", seq: file.position, row } }];
  });
  return found.flat().sort((a, b) => a.record.seq - b.record.seq);
}

/** Anything that isn't a readable file is none of ours. */
async function readable(disk: Disk, file: string): Promise<Buffer | null> {
  try {
    return (await ifThere(disk.read(file))) ?? null;
  } catch (error) {
    if (hasCode(error, "ELOOP", "EISDIR", "EACCES")) return null;
    throw error;
  }
}

/** Deletes the files of phases that match. */
export async function removePhases(
  disk: Disk,
  folder: string,
  runId: string,
  matches: (seq: number) => boolean,
): Promise<void> {
  const gone = (await phasesIn(disk, folder, runId)).filter(({ record }) => matches(record.seq));
  if (gone.length === 0) return;
  await forEach(gone, ({ name }) => ifThere(disk.unlink(path.join(folder, name))));
  await disk.syncFolder(folder);
}
