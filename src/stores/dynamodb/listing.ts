import type { DueQuery, RunPage, RunQuery } from "../../core/store/contract.ts";
import {
  byUrgency,
  checkQuery,
  cursorAfter,
  isLeftOut,
  matches,
  type PagePosition,
} from "../../core/store/query.ts";
import type { RunRow } from "../../core/types.ts";
import {
  ageKey,
  CHILD,
  HIGHEST,
  idOf,
  LOWEST,
  levelOf,
  levelsBelow,
  listShards,
  rowKey,
  runKey,
  sortable,
  wokenBy,
} from "./keys.ts";
import { readItems } from "./reading.ts";
import { isErased, toRow } from "./rows.ts";
import type { Service } from "./service.ts";
import { type Found, merged, type Source } from "./sources.ts";

/**
 * Lists come from indexes, which the service updates a moment after each write, so a run that was just created or
 * changed may be missing for that moment. Each listed row is read again from the table, and rows that no longer match
 * are left out. The list of a run's children never lags.
 */
export async function listRuns(service: Service, query: RunQuery): Promise<RunPage> {
  const after = checkQuery(query);
  const candidates = merged(service, sourcesOf(query, after), query.limit + 1);
  const found = await rowsOf(service, candidates, query.limit + 1, (row) => matches(row, query));
  const runs = found.slice(0, query.limit);
  const last = found.length > runs.length ? runs.at(-1) : undefined;
  return { runs, cursor: last ? cursorAfter(last) : null };
}

/** The fewest partitions that together hold every run of the query. */
function sourcesOf(query: RunQuery, after: PagePosition | null): Source[] {
  const { status, workflow, parent, pruned, createdAfter, createdBefore } = query;
  const start = createdAfter === undefined ? LOWEST : sortable(createdAfter);
  const before = createdBefore === undefined ? HIGHEST : sortable(createdBefore);
  const last = after ? ageKey(after) : HIGHEST;
  const end = last < before ? last : before;
  if (start > end) return [];
  const newestFirst = true;
  if (parent !== undefined) {
    const between = [CHILD + start, CHILD + end] as const;
    return [{ partition: ["pk", runKey(parent)], order: "sk", between, newestFirst, except: CHILD + end }];
  }
  const source = (index: string, name: string, value: string): Source => ({
    index,
    partition: [name, value],
    order: "age",
    between: [start, end],
    newestFirst,
    except: end,
  });
  if (status) {
    const kinds = pruned === undefined ? [true, false] : [pruned];
    const shards = [...new Set(status)].flatMap((one) =>
      kinds.flatMap((kind) => listShards.ofStatus(one, kind)),
    );
    return shards.map((shard) => ({
      ...source("runs-by-status", "statusShard", shard),
      ...(workflow === undefined
        ? {}
        : { oneOf: ["workflowShard", listShards.ofWorkflow(workflow)] as const }),
    }));
  }
  if (workflow !== undefined)
    return listShards.ofWorkflow(workflow).map((shard) => source("runs-by-workflow", "workflowShard", shard));
  return listShards.all().map((shard) => source("runs-by-age", "shard", shard));
}

/**
 * Runs that wait for a worker, the highest priority first, then longest due. The index already leaves out most runs
 * under a live claim.
 */
export async function dueRuns(service: Service, now: number, query: DueQuery): Promise<readonly RunRow[]> {
  const { workflows, limit } = query;
  const shards = [...new Set(workflows)].flatMap(listShards.ofWorkflow);
  const isDue = (row: RunRow): boolean =>
    row.wakeAt !== null &&
    row.wakeAt <= now &&
    row.claim.until <= now &&
    workflows.includes(row.workflow) &&
    !isLeftOut(row, query);
  const found: RunRow[] = [];
  for (const priority of await prioritiesIn(service, shards)) {
    const sources = shards.map(
      (shard): Source => ({ ...dueIn(shard, wokenBy(now, priority)), atMost: ["busy", now] }),
    );
    const left = limit - found.length;
    found.push(...(await rowsOf(service, merged(service, sources, left), left, isDue)));
    if (found.length >= limit) break;
  }
  return found.sort(byUrgency);
}

const dueIn = (shard: string, between: readonly [string, string]): Source => ({
  index: "runs-due",
  partition: ["workflowShard", shard],
  order: "wake",
  between,
  newestFirst: false,
});

/** The priorities of runs with a wake time, the highest first. 0 is always among them; the others are few. */
async function prioritiesIn(service: Service, shards: readonly string[]): Promise<number[]> {
  const found = new Set([0]);
  for (let level = Infinity; ; ) {
    const sources = shards.map(
      (shard): Source => ({ ...dueIn(shard, levelsBelow(level)), newestFirst: true }),
    );
    const { value } = await merged(service, sources, 1).next();
    if (!value) return [...found].sort((a, b) => b - a);
    level = levelOf((value as Found).at);
    found.add(level);
  }
}

/** The matching rows of these runs as the table has them, in the same order; at most `most`. */
async function rowsOf(
  service: Service,
  candidates: AsyncGenerator<Found>,
  most: number,
  isWanted: (row: RunRow) => boolean,
): Promise<RunRow[]> {
  const rows: RunRow[] = [];
  const seen = new Set<string>();
  for (let isDone = false; rows.length < most && !isDone; ) {
    const ids: string[] = [];
    while (rows.length + ids.length < most && !isDone) {
      const next = await candidates.next();
      isDone = next.done === true;
      if (next.done) break;
      const id = next.value.child ?? idOf(next.value.pk);
      // A run that is changing state may be found in the partitions of both states.
      if (!seen.has(id)) ids.push(id);
      seen.add(id);
    }
    const items = await readItems(service, ids.map(rowKey));
    const found = new Map(
      items
        .filter((item) => !isErased(item))
        .map(toRow)
        .map((row) => [row.id, row]),
    );
    rows.push(...ids.flatMap((id) => found.get(id) ?? []).filter(isWanted));
  }
  return rows;
}
