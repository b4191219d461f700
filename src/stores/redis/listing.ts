import type { DueQuery, RunPage, RunQuery } from "../../core/store/contract.ts";
import {
  byAge,
  checkLimit,
  checkQuery,
  cursorAfter,
  matches,
  type PagePosition,
} from "../../core/store/query.ts";
import { RUN_STATUSES, type RunRow } from "../../core/types.ts";
import type { Commands } from "./commands.ts";
import { texts } from "./commands.ts";
import { allBuckets, type Bucket, bucketOf, type Layout, labelled, laneOf, place } from "./keys.ts";
import { FIELDS, toRow } from "./rows.ts";
import { DUE, FORGET, LEVELS, LIST } from "./scripts.ts";

export interface Reading {
  readonly commands: Commands;
  readonly layout: Layout;
}

export async function readRow({ commands, layout }: Reading, runId: string): Promise<RunRow | null> {
  const [key] = bucketOf(layout, runId).run(runId);
  return toRow(await commands.send(key, ["HMGET", key, ...FIELDS]));
}

/**
 * Each bucket names its first runs by age, and the newest of all are read. The lists are exact at that moment, but a
 * run may move before its row is read, so each row is checked against the query and further runs fill the gaps.
 */
export async function listRuns(from: Reading, query: RunQuery): Promise<RunPage> {
  const want = query.limit + 1;
  const found: RunRow[] = [];
  for (let after = checkQuery(query); ; ) {
    const named = await candidates(from, query, after, want);
    const next = named.slice(0, want);
    const rows = await rowsOf(from, next, (bucket) => groupsFor(bucket, query).flat());
    found.push(...rows.filter((row) => matches(row, query)));
    after = next.at(-1) ?? null;
    if (found.length >= want || named.length < want || after === null) break;
  }
  const runs = found.slice(0, query.limit);
  const last = found.length > query.limit ? runs.at(-1) : undefined;
  return { runs, cursor: last ? cursorAfter(last) : null };
}

async function candidates(
  { commands, layout }: Reading,
  query: RunQuery,
  after: PagePosition | null,
  want: number,
): Promise<readonly PagePosition[]> {
  const { createdAfter: least = "-inf", createdBefore } = query;
  const highest = createdBefore === undefined ? "+inf" : `(${createdBefore}`;
  const args = [want, after?.createdAt ?? "", after?.id ?? "", least, highest];
  const pages = allBuckets(layout).map(async (bucket) => {
    const groups = groupsFor(bucket, query);
    const sizes = groups.map(({ length }) => length);
    return sizes.includes(0) ? [] : pairs(await commands.run(LIST, groups.flat(), [...args, ...sizes]));
  });
  const named = (await Promise.all(pages)).flat();
  return named.map(([id, createdAt]) => ({ id, createdAt })).sort(byAge);
}

/** Groups of lists: every run of the query that is in the bucket is in a list of each. */
function groupsFor(bucket: Bucket, query: RunQuery): readonly (readonly string[])[] {
  const { status, workflow, parent, pruned, name, queue, key, labels = {} } = query;
  const tagged = (kind: string, value: string | undefined): readonly string[][] =>
    value === undefined ? [] : [[bucket.tagged(kind, value)]];
  const groups = [
    ...(parent === undefined ? [] : [[bucket.under(parent)]]),
    ...tagged("key", key),
    ...tagged("name", name),
    ...tagged("queue", queue),
    ...Object.entries(labels).flatMap((label) => tagged("label", labelled(...label))),
  ];
  if (status !== undefined || pruned !== undefined) {
    const states = pruned === undefined ? [false, true] : [pruned];
    const places = [...new Set(status ?? RUN_STATUSES)].flatMap((one) =>
      states.map((isPruned) => place(one, isPruned)),
    );
    groups.push(places.map((one) => (workflow === undefined ? bucket.at(one) : bucket.ofAt(workflow, one))));
  } else if (workflow !== undefined) groups.push([bucket.of(workflow)]);
  return groups.length > 0 ? groups : [[bucket.all]];
}

export async function dueRuns(
  from: Reading,
  { workflows, limit, without = [] }: DueQuery,
): Promise<readonly RunRow[]> {
  checkLimit(limit);
  const names = [...new Set(workflows)];
  if (names.length === 0) return [];
  const rows: RunRow[] = [];
  for (const priority of await prioritiesOf(from, names)) {
    rows.push(...(await dueAt(from, names, priority, { limit: limit - rows.length, without })));
    if (rows.length >= limit) break;
  }
  return rows;
}

/** The priorities that runs of these workflows may have, the highest first. 0 is always among them. */
async function prioritiesOf({ commands, layout }: Reading, names: readonly string[]): Promise<number[]> {
  const asked = allBuckets(layout).map(async (bucket) =>
    texts(
      await commands.run(
        LEVELS,
        names.map((name) => bucket.levels(name)),
        [],
      ),
    ),
  );
  const found = (await Promise.all(asked)).flat().map(Number);
  return [...new Set([0, ...found])].sort((a, b) => b - a);
}

async function dueAt(
  from: Reading,
  names: readonly string[],
  priority: number,
  { limit, without }: Required<Omit<DueQuery, "workflows">>,
): Promise<readonly RunRow[]> {
  const lanes = names.map((workflow) => laneOf({ workflow, priority }));
  const keysOf = (bucket: Bucket): readonly string[] => lanes.flatMap((lane) => bucket.wakes(lane));
  const pages = allBuckets(from.layout).map(async (bucket) => {
    const reply = await from.commands.run(DUE, keysOf(bucket), [limit, JSON.stringify(without)]);
    const [now, ...due] = texts(reply);
    return pairs(due).map(([id, wake]) => ({ id, wake, now: Number(now) }));
  });
  const named = (await Promise.all(pages)).flat();
  named.sort((a, b) => a.wake - b.wake || (a.id < b.id ? -1 : 1));
  const first = named.slice(0, limit);
  const nowOf = new Map(first.map(({ id, now }) => [id, now]));
  const rows = await rowsOf(from, first, keysOf);
  // Another worker may have claimed it in the meantime.
  return rows.filter(({ id, wakeAt, claim }) => {
    const now = nowOf.get(id) ?? 0;
    return wakeAt !== null && wakeAt <= now && claim.until <= now;
  });
}

/** A bucket's lists by status: together they name as many runs as the list of all. */
export const placesOf = (bucket: Bucket): readonly string[] =>
  RUN_STATUSES.flatMap((status) => [bucket.at(place(status, false)), bucket.at(place(status, true))]);

/** The rows of these runs, in the same order. An expired run is removed from the lists that named it. */
async function rowsOf(
  from: Reading,
  named: readonly { readonly id: string }[],
  listsOf: (bucket: Bucket) => readonly string[],
): Promise<readonly RunRow[]> {
  const rows = await Promise.all(named.map(({ id }) => readRow(from, id)));
  const gone = named.filter((_, index) => rows[index] === null);
  const forget = gone.map(({ id }) => {
    const bucket = bucketOf(from.layout, id);
    const lists = new Set([...listsOf(bucket), bucket.all, ...placesOf(bucket)]);
    return from.commands.run(FORGET, [bucket.run(id)[0], ...lists], [id]);
  });
  await Promise.all(forget);
  return rows.filter((row) => row !== null);
}

function pairs(reply: unknown): readonly (readonly [id: string, score: number])[] {
  const parts = texts(reply);
  const found: [string, number][] = [];
  for (let i = 0; i < parts.length; i += 2) found.push([parts[i] ?? "", Number(parts[i + 1])]);
  return found;
}
