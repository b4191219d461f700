import { parseEntry } from "../../journal/journal.ts";
import { checkRecord, placedRecord, type RecordDraft, type StoredRecord } from "../../records.ts";
import type { Entry, Store } from "../../store/contract.ts";
import { unblinded } from "../../values/blind.ts";

/** A run as it arrives: its entries, and its blobs by hash. */
interface Arriving {
  readonly id: string;
  readonly entries: readonly Entry[];
  readonly blobs: ReadonlyMap<string, string>;
}

/**
 * The records of the entries that arrive, made again from the events that they show, for the tables that this store
 * has. A record that isn't one, or that speaks for another run, is left out: the journal has what happened.
 */
export function arrivedRecords(store: Pick<Store, "capabilities">, run: Arriving): readonly StoredRecord[] {
  const tables = store.capabilities.records ?? [];
  if (tables.length === 0) return [];
  return run.entries.flatMap((entry) =>
    parseEntry(run.id, entry).events.flatMap((event): readonly StoredRecord[] => {
      if (event.kind !== "checkpoint_marked" || event.meta.record === undefined) return [];
      if (event.data === undefined || !tables.includes(event.meta.record)) return [];
      const { data } = event;
      const text = typeof data === "string" ? data : unblinded(run.blobs.get(data.blob) ?? "");
      const draft = readDraft(event.meta.record, text);
      return draft && isOwn(draft, run.id) ? [placedRecord(draft, event)] : [];
    }),
  );
}

function readDraft(table: string, text: string): RecordDraft | undefined {
  try {
    return checkRecord({ table, row: JSON.parse(text) as unknown });
  } catch {
    return undefined;
  }
}

/** Rows with an id of their own replace others with the same one. */
const isOwn = ({ table, row }: RecordDraft, runId: string): boolean => {
  if (table === "workflow_checkpoints") return row["workflow_id"] === runId;
  return table !== "checkpoints" || row["id"] === runId;
};
