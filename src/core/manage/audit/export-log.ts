import type { AuditLog } from "../../audit/log.ts";
import { BUNDLE_FORMAT } from "../../audit/proof/bundle.ts";
import type { Store } from "../../store/contract.ts";
import { entriesOf, storedRuns } from "./verify-log.ts";

export interface AuditExportOptions {
  /**
   * `heads` (default): the journals' entries without values, which are enough to verify them. `full`: with values. `none`:
   * only the log.
   */
  readonly journals?: "none" | "heads" | "full";
}

/** The log and the journals as lines of JSON, for the offline verifier. */
export async function* exportLog(
  store: Store,
  log: AuditLog,
  journals: NonNullable<AuditExportOptions["journals"]>,
  at: number,
): AsyncGenerator<string, void, undefined> {
  const count = { leaves: 0, runs: 0, entries: 0 };
  yield line({ format: BUNDLE_FORMAT, origin: log.origin, at, journals });
  for await (const { note } of log.heads()) yield line({ sth: note });
  for await (const batch of log.leaves()) {
    count.leaves += batch.length;
    for (const leaf of batch) yield line({ leaf });
  }
  for await (const row of journals === "none" ? [] : storedRuns(store)) {
    count.runs++;
    yield line({ run: row.id, created: row.createdAt, seq: row.seq, head: row.head });
    for await (const { seq, count: events, head, data } of entriesOf(store, row)) {
      count.entries++;
      yield line({ seq, count: events, entry: head, ...(journals === "full" ? { data } : {}) });
    }
  }
  yield line({ end: count });
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;
