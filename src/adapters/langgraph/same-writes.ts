import { isEqual } from "../diff.ts";
import { keyOf } from "../json-keys.ts";
import type { StoredWrite, TaskWrites, ThreadState } from "./state.ts";
import type { Stored } from "./stored.ts";

/**
 * What a task writes is usually what the next checkpoint adds. Where both are saved in one append, the write only says
 * where its value is in the state that follows: elements of a list, or a write of a delta channel.
 */
const IN_LIST = "=";
const IN_DELTA = "=d";

/** The writes with places instead of values, as far as the state that follows has the values. */
export function placed(written: TaskWrites, before: ThreadState, after: ThreadState): TaskWrites {
  const writes = written.writes.map((write): StoredWrite => {
    const [index, channel, value] = write;
    const place = inDelta(written.task, channel, value, after) ?? inList(channel, value, before, after);
    return place ? [index, channel, place] : write;
  });
  return { ...written, writes };
}

function inDelta(task: string, channel: string, value: Stored, after: ThreadState): Stored | undefined {
  const writes = after.delta?.[keyOf(channel)]?.writes ?? [];
  const at = writes.findLastIndex(([by, one]) => by === task && (one === value || isEqual(one, value)));
  return at < 0 ? undefined : [IN_DELTA, at];
}

function inList(channel: string, value: Stored, before: ThreadState, after: ThreadState): Stored | undefined {
  const key = keyOf(channel);
  const [list, old] = [after.values[key]?.[1], before.values[key]?.[1]];
  const [type, items] = value;
  if (type !== "json" || !Array.isArray(items) || items.length === 0 || !Array.isArray(list))
    return undefined;
  const start = Array.isArray(old) ? old.length : 0;
  for (let at = start; at + items.length <= list.length; at++)
    if (items.every((item, index) => isEqual(item, list[at + index]))) return [IN_LIST, [at, items.length]];
  return undefined;
}

/** The writes with their values, taken from the state that followed them. */
export function withValues(written: TaskWrites, after: ThreadState): TaskWrites {
  if (!written.writes.some(([, , [type]]) => type === IN_LIST || type === IN_DELTA)) return written;
  const writes = written.writes.map(([index, channel, value]): StoredWrite => {
    const key = keyOf(channel);
    const [type, place] = value;
    if (type === IN_DELTA) return [index, channel, after.delta?.[key]?.writes[Number(place)]?.[1] ?? value];
    if (type !== IN_LIST || !Array.isArray(place)) return [index, channel, value];
    const [at, count]: number[] = place;
    const list: unknown = after.values[key]?.[1];
    const from = at ?? 0;
    return [index, channel, ["json", Array.isArray(list) ? list.slice(from, from + (count ?? 0)) : []]];
  });
  return { ...written, writes };
}
