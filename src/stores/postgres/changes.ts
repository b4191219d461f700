import { digest } from "../../core/hash.ts";
import { type Change, type ChangeQuery, type Changes, MOST_BEHIND } from "../../core/store/changes.ts";
import { checkLimit } from "../../core/store/query.ts";
import { NO_TAGS } from "../../core/tags.ts";
import type { RunIdentity } from "../../core/types.ts";
import type { Opened } from "./migrations.ts";
import type { Queryable, Value } from "./queryable.ts";
import { isLater, type Place, placeIn, placeText, snapshotIn, snapshotText } from "./snapshots.ts";
import { statement } from "./statement.ts";

type Row = readonly [now: string, run: Value, seq: Value, count: Value, head: string, identity: string];

/**
 * What became visible since a position. A position is a snapshot: which transactions had committed. An entry is new if
 * its transaction hadn't, so neither clocks nor the order in which transactions began and ended matter.
 */
export async function changesIn(
  one: Queryable,
  { at, opened }: { readonly at: string; readonly opened: Opened },
  query: ChangeQuery,
): Promise<Changes> {
  checkLimit(query.limit);
  const tag = digest(opened.incarnation).slice(0, 8);
  const from = query.after === null ? null : placeIn(tag, query.after);
  const upTo = query.upTo === undefined ? null : snapshotIn(tag, query.upTo);
  if (!from || upTo === undefined) return now(one, tag, query.after === null);
  if (upTo && (await isFar(one, at, from, upTo))) return now(one, tag, false);
  const end = from.end ?? upTo;
  const { text, values } = between(at, from, end, query);
  const rows = (await one.query(text, values)) as readonly Row[];
  const [[current] = [""]] = rows;
  if (isLater(from.end ?? from.begin, current)) return now(one, tag, false);
  const reached = end ?? current;
  const found = rows.filter(([, run]) => run !== null).map((row) => toChange(tag, from.begin, reached, row));
  const changes = found.slice(0, query.limit);
  const last = found.length > changes.length ? changes.at(-1) : undefined;
  if (last) return { changes, position: last.position, hasMore: true };
  // The rest of what was read in pieces ends where those pieces do; there may be more after that.
  return { changes, position: snapshotText(tag, reached), hasMore: from.end !== undefined };
}

async function now(one: Queryable, tag: string, isAsked: boolean): Promise<Changes> {
  const [[snapshot] = []] = await one.query("SELECT txid_current_snapshot()::text");
  const position = snapshotText(tag, snapshot as string);
  return { changes: isAsked ? [] : null, position, hasMore: false };
}

async function isFar(one: Queryable, at: string, from: Place, upTo: string): Promise<boolean> {
  const { text, values } = statement(
    (bind) => `SELECT count(*) FROM (SELECT 1 FROM ${at}journal
      WHERE xact >= txid_snapshot_xmin(${bind(from.begin, "txid_snapshot")})
        AND xact < txid_snapshot_xmax(${bind(upTo, "txid_snapshot")}) LIMIT ${MOST_BEHIND + 1}) AS entries`,
  );
  const [[count] = []] = await one.query(text, values);
  return Number(count) > MOST_BEHIND;
}

/** Always one row at least, so that the snapshot comes with the entries that it shows. */
function between(at: string, from: Place, end: string | null, { isAgain, isNewest, limit }: ChangeQuery) {
  return statement((bind) => {
    const begin = bind(from.begin, "txid_snapshot");
    const reached = end === null ? "reached.snapshot" : bind(end, "txid_snapshot");
    const rest =
      from.entry === undefined
        ? ""
        : `AND (entry.run, entry.seq) ${isAgain ? ">=" : ">"} (${bind(from.entry.run, "bigint")}, ${bind(from.entry.seq, "bigint")})`;
    const [only, order] = isNewest === true ? ["DISTINCT ON (entry.run)", "DESC"] : ["", "ASC"];
    // Only entries of one run have an order, so this is as good as any, and each run's is right.
    return `SELECT reached.snapshot::text, entry.run, entry.seq, entry.count, entry.head, entry.identity
FROM (SELECT txid_current_snapshot() AS snapshot) AS reached LEFT JOIN LATERAL (
  SELECT ${only} entry.run, entry.seq, entry.count, entry.head, run.identity
  FROM ${at}journal AS entry JOIN ${at}runs AS run ON run.n = entry.run
  WHERE entry.xact >= txid_snapshot_xmin(${begin}) AND entry.xact < txid_snapshot_xmax(${reached})
    AND NOT txid_visible_in_snapshot(entry.xact, ${begin}) AND txid_visible_in_snapshot(entry.xact, ${reached})
    ${rest}
  ORDER BY entry.run, entry.seq ${order} LIMIT ${bind(limit + 1, "bigint")}
) AS entry ON true`;
  });
}

function toChange(tag: string, begin: string, end: string, row: Row): Change {
  const [, run, seq, count, head, identity] = row;
  const entry = { seq: Number(seq), count: Number(count), head };
  const position = placeText(tag, { begin, end, entry: { run: Number(run), seq: entry.seq } });
  return { run: { ...NO_TAGS, ...(JSON.parse(identity) as RunIdentity) }, entry, position };
}

/**
 * Entries that a dump brought from another server carry numbers of transactions that haven't happened here. Without
 * them, they aren't taken for new when such a number comes up.
 */
export async function forgetForeign(one: Queryable, at: string): Promise<void> {
  await one.query(
    `UPDATE ${at}journal SET xact = NULL WHERE xact >= txid_snapshot_xmax(txid_current_snapshot())`,
  );
}
