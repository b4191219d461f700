import { risingTime, type StoredRecord, timeColumn } from "../../core/records.ts";
import { type Commands, texts } from "./commands.ts";

/**
 * Records lie beside the blobs of their run, in the same hash: one script writes them with their events, drops them,
 * and erases them. A blob is named by a digest, which has no colon.
 */
const FIELD = "record:";

export const recordField = (seq: number): string => `${FIELD}${seq}`;

/** The records of a run, in order of position. The times of one agent rise, as they do in a table. */
export async function readRecords(commands: Commands, key: string): Promise<readonly StoredRecord[]> {
  const fields = texts(await commands.send(key, ["HKEYS", key])).filter((name) => name?.startsWith(FIELD));
  if (fields.length === 0) return [];
  const found = texts(await commands.send(key, ["HMGET", key, ...(fields as string[])]));
  const records = found.flatMap((text) => (text === null ? [] : [JSON.parse(text) as StoredRecord]));
  const last = new Map<string, string>();
  return records
    .sort((a, b) => a.seq - b.seq)
    .map((record) => {
      const column = timeColumn(record.table);
      const agent = `${String(record.row["analysis_id"])}:${String(record.row["agent_type"])}`;
      const time = risingTime(String(record.row[column]), last.get(agent) ?? null);
      last.set(agent, time);
      return { ...record, row: { ...record.row, [column]: time } };
    });
}
