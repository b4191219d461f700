import { parseEntry } from "../../core/journal/journal.ts";
import type { Drop, Entry } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { NEWEST, recordName } from "./names.ts";
import { isKnownVersion, seal, unseal } from "./sealed.ts";

/** One journal entry as a file. */
export interface EntryRecord {
  readonly entry: Entry;
  readonly timestamp: string;
  /** The run after the append. `null` within the copied part of a fork, which is written as a whole. */
  readonly run: RunRow | null;
  /** The values that the append deletes; deleted again if the deletion may not have finished. */
  readonly drop: Drop | null;
  /** True when the record's version gives the newest record of a run a second name. */
  readonly hasWitness?: boolean;
}

/** From this record version on, a run's newest record has a second name. */
const WITNESSED = "1.1";

/** The file's text: first the part for people, then the part for the store, then the checksum over both. */
export function formatRecord(id: string, { entry, timestamp, run, drop }: EntryRecord): string {
  const { seq, count, head, data } = entry;
  return seal({
    version: WITNESSED,
    checkpoint_id: `${id}@${seq}`,
    workflow_id: id,
    timestamp,
    seq,
    count,
    ...(run ? { status: run.status } : {}),
    ...shownEvents(id, entry),
    run,
    ...(drop ? { drop } : {}),
    head,
    data,
  });
}

export type ParsedRecord =
  | (EntryRecord & { readonly ok: true })
  | { readonly ok: false; readonly problem: string; readonly isNewer: boolean };

/** Parses a record, given the run and the file name it was read from. */
export function parseRecord(id: string, name: string, bytes: Buffer): ParsedRecord {
  const bad = (problem: string, isNewer = false): ParsedRecord => ({ ok: false, problem, isNewer });
  const unsealed = unseal(bytes);
  if ("problem" in unsealed) return bad(unsealed.problem);
  const { version, workflow_id, timestamp, seq, count, run, drop, head, data } =
    unsealed.body as unknown as EntryRecord & Entry & Readonly<Record<"version" | "workflow_id", unknown>>;
  if (!isKnownVersion(version)) return bad(`it is of version ${String(version)}`, true);
  const isNamed = name === NEWEST || recordName(seq, timestamp) === name;
  if (workflow_id !== id || !isNamed) return bad("it belongs somewhere else");
  const hasWitness = version !== "1.0";
  return { ok: true, entry: { seq, count, head, data }, timestamp, run, drop: drop ?? null, hasWitness };
}

/** Longer values appear in `data` only. */
const SHOWN_CHARACTERS = 1_024;

/** The events for people. The store never reads them back. */
function shownEvents(id: string, entry: Entry): { events?: readonly object[] } {
  try {
    const { events } = parseEntry(id, entry);
    return {
      events: events.map(({ kind, step, meta, data, dropped }) => ({
        event: kind,
        ...(step === "" ? {} : { step }),
        ...(isShort(meta) ? { about: meta } : {}),
        ...(data === undefined ? {} : { value: shownValue(data) }),
        ...(dropped ? { value: "(dropped)" } : {}),
      })),
    };
  } catch {
    return {};
  }
}

const isShort = (meta: unknown): boolean => {
  const text = JSON.stringify(meta) ?? "{}";
  return text !== "{}" && text.length <= SHOWN_CHARACTERS;
};

function shownValue(data: string | { readonly blob: string }): unknown {
  if (typeof data !== "string") return `(in blobs: ${data.blob})`;
  return data.length > SHOWN_CHARACTERS ? `(${data.length} characters)` : (JSON.parse(data) as unknown);
}
