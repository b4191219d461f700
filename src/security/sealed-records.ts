import { COLUMNS, type StoredRecord } from "../core/records.ts";
import type { Pack } from "./compression.ts";
import { type DataKey, openRecord, type RecordPlace, sealRecord } from "./record.ts";

/** Where the columns of a stored record belong. */
interface Place {
  readonly store: string;
  readonly run: string;
}

/**
 * The record without its values, for tables that other programs read: names, times and numbers stay, as they do in the
 * heads of entries. A JSON column becomes `{"sealed": "…"}`.
 */
export function sealStored(record: StoredRecord, place: Place, key: DataKey, pack: Pack): StoredRecord {
  return withValues(record, (kind, value, name) => {
    const sealed = sealRecord(key, placeOf(record, place, name), JSON.stringify(value), pack);
    return kind === "json" ? { sealed } : sealed;
  });
}

/** The record with its values; null for one that can't be opened. */
export const openStored = (record: StoredRecord, place: Place, key: DataKey): StoredRecord =>
  withValues(record, (kind, value, name) => {
    const text: unknown = kind === "json" ? (value as { readonly sealed?: unknown }).sealed : value;
    const opened = typeof text === "string" ? openRecord(key, placeOf(record, place, name), text) : null;
    return opened === null ? null : (JSON.parse(opened) as unknown);
  });

function placeOf({ table, seq }: StoredRecord, { store, run }: Place, column: string): RecordPlace {
  return { store, run, type: "record", at: `${seq} ${column}`, head: table };
}

/** Replaces the columns that hold values. */
function withValues(
  { table, seq, row }: StoredRecord,
  replace: (kind: "json" | "text", value: unknown, name: string) => unknown,
): StoredRecord {
  const columns = Object.entries(COLUMNS[table]).map(([name, { kind }]) => {
    const value = row[name] ?? null;
    return [
      name,
      value !== null && (kind === "json" || kind === "text") ? replace(kind, value, name) : value,
    ];
  });
  return { table, seq, row: Object.fromEntries(columns) };
}
