import { isEqual } from "../diff.ts";
import { keyOf } from "../json-keys.ts";
import type { StoredWrite, TaskWrites, ThreadState } from "./state.ts";
import type { Stored } from "./stored.ts";

/**
 * What a task writes is usually what the next checkpoint adds. Where both are saved in one append, the write only says
 * where its value is in the state that follows: a channel's whole value, elements of its list, or a write of a delta
 * channel. Its index is its place then.
 */
type Place =
  | string
  | readonly [channel: string, at: number, count: number]
  | readonly [channel: string, delta: number];

/** A task's writes as the journal holds them. */
export interface KeptWrites extends Omit<TaskWrites, "writes"> {
  readonly writes: readonly (StoredWrite | Place)[];
}

/** How earlier versions of this package have written a place. */
const IN_LIST = "=";
const IN_DELTA = "=d";

/** The writes with places instead of values, as far as the state that follows has the values. */
export function placed(written: TaskWrites, before: ThreadState, after: ThreadState): KeptWrites {
  const writes = written.writes.map((write, place): StoredWrite | Place => {
    const [index, channel, value] = write;
    if (index !== place) return write;
    return inDelta(written.task, channel, value, after) ?? inValues(channel, value, before, after) ?? write;
  });
  return { ...written, writes };
}

function inDelta(task: string, channel: string, value: Stored, after: ThreadState): Place | undefined {
  const writes = after.delta?.[keyOf(channel)]?.writes ?? [];
  const at = writes.findLastIndex(([by, one]) => by === task && (one === value || isEqual(one, value)));
  return at < 0 ? undefined : [channel, at];
}

function inValues(
  channel: string,
  value: Stored,
  before: ThreadState,
  after: ThreadState,
): Place | undefined {
  const key = keyOf(channel);
  const [found, old] = [after.values[key], before.values[key]?.[1]];
  if (found && isEqual(found, value)) return channel;
  const [type, items] = value;
  const list = found?.[1];
  if (type !== "json" || !Array.isArray(items) || items.length === 0 || !Array.isArray(list))
    return undefined;
  const start = Array.isArray(old) ? old.length : 0;
  for (let at = start; at + items.length <= list.length; at++)
    if (items.every((item, index) => isEqual(item, list[at + index]))) return [channel, at, items.length];
  return undefined;
}

/** The writes with their values, those that only say where taken from the state that followed them. */
export function withValues(written: KeptWrites, after: ThreadState | undefined): TaskWrites {
  const writes = written.writes.map((write, place): StoredWrite => {
    if (typeof write === "string") return [place, write, after?.values[keyOf(write)] ?? NOTHING];
    if (typeof write[0] === "number") return formerPlace(write as StoredWrite, after);
    const [channel, at, count] = write;
    const key = keyOf(channel);
    if (count === undefined) return [place, channel, after?.delta?.[key]?.writes[Number(at)]?.[1] ?? NOTHING];
    return [place, channel, elements(after, key, Number(at), Number(count))];
  });
  return { ...written, writes };
}

const NOTHING: Stored = ["json", null];

function formerPlace([index, channel, value]: StoredWrite, after: ThreadState | undefined): StoredWrite {
  const key = keyOf(channel);
  const [type, place] = value;
  if (type === IN_DELTA) return [index, channel, after?.delta?.[key]?.writes[Number(place)]?.[1] ?? value];
  if (type !== IN_LIST || !Array.isArray(place)) return [index, channel, value];
  const [at = 0, count = 0]: number[] = place;
  return [index, channel, elements(after, key, at, count)];
}

function elements(after: ThreadState | undefined, key: string, at: number, count: number): Stored {
  const list: unknown = after?.values[key]?.[1];
  return ["json", Array.isArray(list) ? list.slice(at, at + count) : []];
}
