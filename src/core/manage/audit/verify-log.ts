import type { AuditLog } from "../../audit/log.ts";
import { parseHead } from "../../audit/proof/checkpoint.ts";
import { type Anchor, LogCheck } from "../../audit/proof/log-check.ts";
import type { NoteKey } from "../../audit/proof/note.ts";
import { type AuditVerification, conclude } from "../../audit/proof/result.ts";
import { RunCheck } from "../../audit/proof/run-check.ts";
import type { Store } from "../../store/contract.ts";
import { DELETED_RUNS } from "../../store/deleted.ts";
import { everyRun } from "../../store/query.ts";
import type { RunRow } from "../../types.ts";

const PAGE = 500;

export interface LogVerification {
  readonly keys: readonly NoteKey[];
  readonly anchors: readonly Anchor[];
  /** `none`: only the log. `heads`: the journals too. `full`: also their values. */
  readonly journals: "none" | "heads" | "full";
}

/** Verifies the log of a store and, by it, the journals: the same checks as the offline verifier's, on the store itself. */
export async function verifyLog(
  store: Store,
  log: AuditLog,
  { keys, anchors, journals }: LogVerification,
): Promise<AuditVerification> {
  const heads = [];
  const unreadable = [];
  for await (const { note, size } of log.heads()) {
    const head = parseHead(note);
    if (head && head.size === size) heads.push(head);
    else unreadable.push({ kind: "head", where: `head ${size}`, problem: "It can't be read." } as const);
  }
  const check = new LogCheck({ keys, anchors, heads });
  for await (const batch of log.leaves()) for (const text of batch) check.take(text);
  const proven = check.finish();
  const runs =
    journals === "none" ? null : new RunCheck(check.runs, (proven.anchored ?? proven.signed)?.size ?? 0);
  if (runs) await checkRuns(store, runs, journals === "full");
  return conclude({
    log: check,
    proven,
    runs,
    withValues: journals === "full",
    keysFrom: keys.length > 0 ? "reader" : "log",
    more: unreadable,
  });
}

async function checkRuns(store: Store, runs: RunCheck, withValues: boolean): Promise<void> {
  for await (const row of storedRuns(store)) {
    runs.begin({ run: row.id, created: row.createdAt, seq: row.seq, head: row.head });
    for await (const { seq, count, head, data } of entriesOf(store, row))
      runs.entry({ seq, count, head, ...(withValues ? { data } : {}) });
  }
  runs.finish();
}

/** Every run; the record of deletions comes last, so that it names whatever was deleted meanwhile. */
export async function* storedRuns(store: Store): AsyncGenerator<RunRow, void, undefined> {
  yield* everyRun(store);
  const deleted = await store.read(DELETED_RUNS);
  if (deleted) yield deleted;
}

/** The entries of a run up to the position of its row. */
export async function* entriesOf(store: Store, { id, seq: last }: RunRow) {
  for (let from = 1; from <= last; ) {
    const page = await store.entries(id, { from, limit: PAGE });
    for (const entry of page) if (entry.seq <= last) yield entry;
    const end = page.at(-1);
    if (!end || page.length < PAGE) return;
    from = end.seq + end.count;
  }
}
