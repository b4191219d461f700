import { parseEntry } from "../../core/journal/journal.ts";
import { newProjection, projectAll } from "../../core/journal/project.ts";
import type { RunProjection } from "../../core/types.ts";
import type { SqliteConnection } from "./driver.ts";
import { toEntry } from "./rows.ts";

/** Runs of the first format: their first entry names no seed. */
const OF_FIRST_FORMAT = `SELECT runs.n, runs.id, runs.created_at, runs.parent_run IS NOT NULL FROM runs
  JOIN journal ON journal.run = runs.n AND journal.seq = 1 WHERE instr(journal.head, '"seed":') = 0`;
const ENTRIES = "SELECT seq, count, head, NULL FROM journal WHERE run = ? ORDER BY seq";
const SET = "UPDATE runs SET active_ms = ?, active_at = ?, error = ? WHERE n = ?";

/**
 * Schema version 3 changes no table. Version 2 began to count how long workers had a run, starting at 0 for existing
 * runs, and to store the reason for a pause. This fills in both from the journals.
 */
export function catchUp(db: SqliteConnection): void {
  const runs = db.prepare(OF_FIRST_FORMAT).all() as [number, string, number, number][];
  for (const [n, id, createdAt, hasParent] of runs) {
    let run: RunProjection | undefined = newProjection(createdAt, "", 1);
    for (const values of db.prepare(ENTRIES).all(n)) run = run && after(run, id, values, hasParent === 1);
    if (run) db.prepare(SET).run(run.activeMs, run.activeAt, run.error, n);
  }
}

/** Reading a run reports an unreadable head. It must not keep the file from being opened. */
function after(
  run: RunProjection,
  id: string,
  values: Parameters<typeof toEntry>[0],
  hasParent: boolean,
): RunProjection | undefined {
  try {
    return projectAll(run, parseEntry(id, toEntry(values)).events, hasParent);
  } catch {
    return undefined;
  }
}
