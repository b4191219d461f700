import { digest } from "../../core/hash.ts";

const ID = /^[A-Za-z0-9_-]{1,64}$/;
/** Names that Windows reserves for devices. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

/**
 * The file or folder name for an id. Some file systems treat `run` and `RUN` as the same name, so an id with capitals
 * lists them after a `~`: `RUN~7` and `Run~1` are two folders everywhere.
 */
export function safeName(id: string): string {
  if (!ID.test(id)) return `~${Buffer.from(digest(id), "base64url").toString("hex")}`;
  let capitals = 0n;
  for (let i = 0; i < id.length; i++) if (/[A-Z]/.test(id.charAt(i))) capitals |= 1n << BigInt(i);
  return capitals === 0n && !RESERVED.test(id) ? id : `${id}~${capitals.toString(16)}`;
}

/** The id that a folder's name stands for, or `undefined` if it isn't a run's folder. */
export function idOf(name: string): string | undefined {
  const id = name.replace(/~[0-9a-f]+$/, "");
  return ID.test(id) && safeName(id) === name ? id : undefined;
}

export interface RecordName {
  readonly name: string;
  readonly seq: number;
}

const RECORD = /^checkpoint_(\d{8,16})_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.json$/;

/** `checkpoint_00000012_2026-01-02T03-04-05-678Z.json`: in order of position, without characters that Windows refuses. */
export const recordName = (seq: number, timestamp: string): string =>
  `checkpoint_${String(seq).padStart(8, "0")}_${timestamp.replace(/[:.]/g, "-")}.json`;

const PHASE = /^checkpoint_phase\d+_.*\.json$/;

/** True for the file of a phase, which is for people: the store restores nothing from it. */
export const isPhaseName = (name: string): boolean => PHASE.test(name);

/** `checkpoint_phase2_20240102_143522.json`; from the second file of a second on with a number. */
export function phaseName(phase: number, timestamp: string, count: number): string {
  const [day = "", time = ""] = new Date(timestamp)
    .toISOString()
    .slice(0, 19)
    .replace(/[-:]/g, "")
    .split("T");
  return `checkpoint_phase${phase}_${day}_${time}${count > 1 ? `_${count}` : ""}.json`;
}

/** Parses a file name: a record at a position, a name that almost looks like one, or neither. */
export function parseRecordName(name: string): RecordName | "misnamed" | null {
  if (!name.startsWith("checkpoint_") || !name.endsWith(".json") || isPhaseName(name)) return null;
  const [, digits] = RECORD.exec(name) ?? [];
  return digits === undefined ? "misnamed" : { name, seq: Number(digits) };
}

/** True for a record that was set aside at one of these positions. */
export const isSetAside = (name: string, seqs: ReadonlySet<number>): boolean => {
  const [, digits] = /^checkpoint_(\d{8,16})_.*\.bad(\.\d+)?$/.exec(name) ?? [];
  return digits !== undefined && seqs.has(Number(digits));
};

/**
 * A second name of a run's newest record. It is created in the same sync that makes the record durable, and before the
 * append is acknowledged, so after a crash it proves what was acknowledged.
 */
export const NEWEST = "newest.json";

export const byPosition = (a: RecordName, b: RecordName): number =>
  a.seq - b.seq || (a.name < b.name ? -1 : 1);
