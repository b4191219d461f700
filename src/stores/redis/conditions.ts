import { limitsOf } from "../../core/store/claim.ts";
import type { Append } from "../../core/store/contract.ts";
import { ended, RUN_STATUSES, type RunStatus } from "../../core/types.ts";
import { type Commands, script } from "./commands.ts";
import { allBuckets, type Bucket, type Layout, place } from "./keys.ts";

/**
 * What an append requires of other runs: that not too many of them are running, or that none is in the way. The script
 * that appends counts them in the lists of all buckets, so no count is kept that could get out of step.
 */
interface Conditions {
  /** For each condition and bucket: the lists by status, then those that the runs must be in as well. */
  readonly keys: readonly string[];
  /** For the script; `""` when there are none. */
  readonly text: string;
}

const places = (statuses: readonly RunStatus[]): readonly string[] =>
  statuses.flatMap((status) => [place(status, false), place(status, true)]);

const RUNNING = places(["running"]);
const AROUND = {
  unended: places(RUN_STATUSES.filter((status) => !ended(status))),
  unbegun: places(["waiting"]),
} as const;

export function conditionsOf(layout: Layout, append: Append): Conditions {
  const limits = limitsOf(append);
  const { alone, run } = append;
  if (limits.length === 0 && !alone) return { keys: [], text: "" };
  const inAll = (listsOf: (bucket: Bucket) => readonly string[]) => allBuckets(layout).flatMap(listsOf);
  const counted = limits.flatMap(({ queue, key }) =>
    inAll(({ at, tagged }) => [
      ...RUNNING.map(at),
      tagged("queue", queue),
      ...(key === undefined ? [] : [tagged("key", key)]),
    ]),
  );
  const said = {
    buckets: layout.buckets,
    limits: limits.map(({ key, most }) => ({ most, tags: key === undefined ? 1 : 2 })),
  };
  if (!alone) return { keys: counted, text: JSON.stringify(said) };
  const around = AROUND[alone.among];
  const others = inAll(({ ofAt, tagged }) => [
    ...around.map((where) => ofAt(run.workflow, where)),
    tagged("key", alone.key),
  ]);
  const text = JSON.stringify({ ...said, among: alone.among, places: around.length });
  return { keys: [...counted, ...others], text };
}

/** Defines `met(id, text, first)`, which returns nothing or the refusal. The conditions' keys begin with the first. */
export const MET = `
local function met(id, text, nextKey)
  if text == '' then return end
  local conditions = cjson.decode(text)
  local function inEachBucket(width, work)
    for _ = 1, conditions.buckets do
      local found = work(nextKey)
      if found then return found end
      nextKey = nextKey + width
    end
  end
  local function isIn(lists)
    for _, list in ipairs(lists) do
      if not redis.call('ZSCORE', list, id) then return false end
    end
    return true
  end
  -- A row that doesn't decode has begun: before that, it has no text of a user.
  local function isUnbegun(list, other)
    local row = string.match(list, '^%b{}') .. 'run:' .. other
    local readable, run = pcall(cjson.decode, redis.call('HGET', row, 'projection'))
    local waits = readable and type(run.waiting) == 'table' and run.waiting[1]
    return waits and waits.kind == 'start'
  end

  for _, limit in ipairs(conditions.limits) do
    local running = 0
    inEachBucket(2 + limit.tags, function(first)
      local tagged = {unpack(KEYS, first + 2, first + 1 + limit.tags)}
      for i = first, first + 1 do
        running = running + redis.call('ZINTERCARD', limit.tags + 1, KEYS[i], unpack(tagged))
        if isIn({KEYS[i], unpack(tagged)}) then running = running - 1 end
      end
    end)
    if running >= limit.most then return 'full' end
  end
  local other = conditions.among and inEachBucket(conditions.places + 1, function(first)
    local tagged = first + conditions.places
    for i = first, tagged - 1 do
      for _, one in ipairs(redis.call('ZINTER', 2, KEYS[i], KEYS[tagged])) do
        if conditions.among == 'unended' or isUnbegun(KEYS[i], one) then return one end
      end
    end
  end)
  if other then return 'taken', other end
end
`;

const REACH = script(`#!lua flags=no-writes
return redis.call('EXISTS', unpack(KEYS))
`);

/**
 * True when one script can read all buckets: on one server, or in one slot. A cluster refuses it, and so does a proxy
 * that hides one.
 */
export async function reachesAll(commands: Commands, layout: Layout): Promise<boolean> {
  try {
    const marks = allBuckets(layout).map(({ mark }) => mark);
    await commands.run(REACH, marks, []);
    return true;
  } catch (error) {
    if (error instanceof Error && /slot/i.test(error.message)) return false;
    throw error;
  }
}
