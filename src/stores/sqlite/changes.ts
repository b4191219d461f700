import { digest } from "../../core/hash.ts";
import { changesFrom, type Numbered } from "../../core/store/change-log.ts";
import type { ChangeQuery, Changes } from "../../core/store/changes.ts";
import type { RunIdentity } from "../../core/types.ts";
import type { Connection } from "./connection.ts";
import { toRow } from "./rows.ts";
import { SQL } from "./statements.ts";

/**
 * What was written since a position. Writers take turns, and each entry's id is higher than all before it, so ids are
 * the order in which entries became visible.
 */
export function changesIn(connection: Connection, query: ChangeQuery): Changes {
  const [[last, history] = []] = connection.prepare(SQL.lastChange).all();
  return changesFrom(query, {
    tag: digest(String(history)).slice(0, 8),
    last: Number(last),
    between: (from, to, limit, isNewest) => between(connection, from, to, limit, isNewest),
  });
}

function between(
  connection: Connection,
  from: number,
  to: number,
  limit: number,
  isNewest: boolean,
): Numbered[] {
  const runs = new Map<number, RunIdentity | null>();
  const identity = (n: number): RunIdentity | null => {
    const known = runs.get(n);
    if (known !== undefined) return known;
    const [values] = connection.prepare(SQL.readNumber).all(n);
    const found = values ? toRow(values) : null;
    runs.set(n, found);
    return found;
  };
  const text = isNewest ? SQL.newestChanges : SQL.changes;
  const rows = connection.prepare(text).all(from, from, to, limit);
  return (rows as [number, number, number, number, string][]).flatMap(([number, n, seq, count, head]) => {
    const run = identity(n);
    return run ? [{ number, change: { run, entry: { seq, count, head } } }] : [];
  });
}

/**
 * Erases a run's journal. The ids of erased entries are not given again, because positions name them: if the last one
 * goes, the last entry that is left gets its id. If none is left, a new history begins.
 */
export function eraseJournal(connection: Connection, runId: string): void {
  const last = lastId(connection);
  connection.prepare(SQL.eraseJournal).run(runId);
  const left = lastId(connection);
  if (left === last) return;
  if (left === null) connection.prepare(SQL.setMeta).run("history", crypto.randomUUID());
  else connection.prepare(SQL.moveEntry).run(last, left);
}

function lastId(connection: Connection): number | null {
  const [[id] = []] = connection.prepare(SQL.lastId).all();
  return id === null || id === undefined ? null : Number(id);
}
