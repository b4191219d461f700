import { type CheckpointRecord, checkRecord, placedRecord, type RecordDraft } from "../records.ts";
import type { Append, Blob, Store } from "../store/contract.ts";
import type { EventDraft, JournalEvent } from "./events.ts";
import type { Values } from "./values.ts";

type Mark = EventDraft & { readonly kind: "checkpoint_marked" };

/** An event with the record that shows its value. */
interface MarkWithRecord {
  readonly event: EventDraft;
  readonly blobs: readonly Blob[];
  readonly record?: RecordDraft;
}

/**
 * A mark that holds the values of a record, and that record. What the row shows is what the journal keeps: after
 * redaction, and in the journal's own JSON.
 */
export function markWith(mark: Mark, record: CheckpointRecord | undefined, values: Values): MarkWithRecord {
  if (record === undefined) return { event: mark, blobs: [] };
  const { table, row } = checkRecord(record);
  const { data, blobs, text } = values.encode(mark.step, row);
  const meta = { ...mark.meta, record: table };
  return { event: { ...mark, meta, data }, blobs, record: checkRecord({ table, row: JSON.parse(text) }) };
}

/** The records of an append, without those that the store doesn't keep: their events are enough there. */
export function recordsOf(
  { capabilities }: Pick<Store, "capabilities">,
  drafts: readonly { readonly record?: RecordDraft | undefined }[],
  events: readonly JournalEvent[],
): Pick<Append, "records"> {
  if (!drafts.some(({ record }) => record)) return NONE;
  const records = drafts.flatMap(({ record }, index) => {
    if (!record || !capabilities.records?.includes(record.table)) return [];
    return [placedRecord(record, events[index] as JournalEvent)];
  });
  return records.length === 0 ? NONE : { records };
}

const NONE: Pick<Append, "records"> = {};
