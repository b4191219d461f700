import type { ChannelVersions, Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import { HoldfastError } from "../../core/errors.ts";
import { keyOf, nameOf } from "../json-keys.ts";
import { wholeJson } from "./brief-messages.ts";
import type { Item, Prepared, Stored, StoredValues } from "./stored.ts";

/** A write of a task, as it is stored: its place among those of the task, its channel and its value. */
export type StoredWrite = readonly [index: number, channel: string, value: Stored];

/** What a task has written, as a finished step of the thread's iteration under way. */
export interface TaskWrites {
  /** The checkpoint; missing when it is the one that the iteration began with. */
  readonly checkpoint?: string;
  readonly task: string;
  readonly writes: readonly StoredWrite[];
}

/** What a delta channel is made of since its last complete value. */
export interface DeltaHistory {
  readonly seed?: Stored;
  readonly writes: readonly (readonly [task: string, value: Stored])[];
}

/** What tells a checkpoint from others. */
export interface Identity {
  readonly id: string;
  readonly parent: string | null;
  readonly ts: string;
  readonly v: number;
}

/** A checkpoint of a namespace, as the state of the namespace's loop. Names of channels are keys (`keyOf`). */
export interface ThreadState {
  readonly checkpoint: Identity;
  readonly values: Readonly<Record<string, Stored>>;
  readonly versions: Readonly<Record<string, number | string>>;
  readonly seen: Readonly<Record<string, Readonly<Record<string, number | string>>>>;
  readonly meta: Stored;
  /** Fields of checkpoints that later versions of LangGraph may have. */
  readonly more?: Stored;
  readonly delta?: Readonly<Record<string, DeltaHistory>>;
}

/** A checkpoint to be saved; its values are already being serialized. */
export interface PreparedCheckpoint {
  readonly namespace: string;
  readonly id: string;
  readonly parent: string | null;
  readonly ts: string;
  readonly v: number;
  readonly versions: ChannelVersions;
  readonly seen: ThreadState["seen"];
  readonly meta: Promise<Stored>;
  readonly more: Promise<Stored> | undefined;
  /** The values of channels that have a new version. */
  readonly fresh: ReadonlyMap<string, Prepared>;
  /** The values of all channels, as given. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly newVersions: ReadonlySet<string>;
  /** The delta channels that have no complete value here. */
  readonly delta: readonly string[];
}

const KNOWN = new Set(["v", "id", "ts", "channel_values", "channel_versions", "versions_seen"]);

/** Takes a checkpoint in, before anything else can change it. */
export function prepared(
  values: StoredValues,
  place: { readonly namespace: string; readonly parent: string | undefined },
  checkpoint: Checkpoint,
  metadata: CheckpointMetadata,
  newVersions: ChannelVersions,
  items: ReadonlyMap<string, readonly Item[]> | undefined,
): PreparedCheckpoint {
  const { id, ts, v, channel_values: given, channel_versions: versions, versions_seen: seen } = checkpoint;
  if (typeof id !== "string" || id === "" || typeof v !== "number")
    throw new HoldfastError("HF-6188", { problem: "It has no id, or no version of its format (v)." });
  const changed = Object.keys(newVersions).filter((name) => Object.hasOwn(given, name));
  const rest = Object.entries(checkpoint).filter(([name]) => !KNOWN.has(name));
  const counters = metadata.counters_since_delta_snapshot ?? {};
  const fresh = changed.map(
    (name) => [name, values.prepare(given[name], `channel ${name}`, items?.get(name))] as const,
  );
  return {
    namespace: place.namespace,
    parent: place.parent ?? null,
    id,
    ts,
    v,
    versions: { ...versions },
    seen: mapped(seen, (versionsSeen) => mapped(versionsSeen, (version) => version)),
    meta: quiet(values.dump(metadata, "metadata")),
    more: rest.length === 0 ? undefined : quiet(values.dump(Object.fromEntries(rest), "checkpoint")),
    fresh: new Map(fresh),
    given,
    newVersions: new Set(Object.keys(newVersions)),
    delta: Object.keys(counters).filter((name) => !Object.hasOwn(given, name)),
  };
}

const quiet = <T>(promise: Promise<T>): Promise<T> => {
  promise.catch(() => undefined);
  return promise;
};

const mapped = <A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record ?? {}).map(([name, value]) => [keyOf(name), change(value)]));

/** The value that a channel has in the new state although it has no new version; `undefined` for none. */
export type Inherited = (channel: string, version: number | string) => Promise<Stored | undefined>;

/** The state that a checkpoint leads to. */
export async function stateOf(
  checkpoint: PreparedCheckpoint,
  inherited: Inherited,
  delta: ThreadState["delta"],
): Promise<ThreadState> {
  const { id, parent, ts, v, versions, seen, fresh, newVersions } = checkpoint;
  const values: Record<string, Stored> = {};
  for (const name of new Set([...Object.keys(versions), ...newVersions])) {
    const own = fresh.get(name);
    const version = versions[name] ?? "";
    const value = own ? await whole(own) : newVersions.has(name) ? undefined : await inherited(name, version);
    if (value) values[keyOf(name)] = value;
  }
  const more = await checkpoint.more;
  return {
    checkpoint: { id, parent, ts, v },
    values,
    versions: mapped(versions, (version) => version),
    seen,
    meta: await checkpoint.meta,
    ...(more ? { more } : {}),
    ...(delta && Object.keys(delta).length > 0 ? { delta } : {}),
  };
}

async function whole(value: Prepared): Promise<Stored> {
  if ("whole" in value) return value.whole;
  const { items } = value;
  await Promise.all(items.filter(({ done }) => !done).map(({ json }) => json));
  return ["json", items.map(({ done }) => done?.json)];
}

/** The checkpoint that a state holds, without its values. */
export function headOf(state: ThreadState): Omit<Checkpoint, "channel_values"> {
  const more = state.more ? (JSON.parse(wholeJson(state.more[1])) as Readonly<Record<string, unknown>>) : {};
  const unmapped = <A>(record: Readonly<Record<string, A>>): Record<string, A> =>
    Object.fromEntries(Object.entries(record).map(([key, value]) => [nameOf(key), value]));
  return {
    ...more,
    v: state.checkpoint.v,
    id: state.checkpoint.id,
    ts: state.checkpoint.ts,
    channel_versions: unmapped(state.versions),
    versions_seen: unmapped(
      Object.fromEntries(Object.entries(state.seen).map(([key, seen]) => [key, unmapped(seen)])),
    ),
  };
}
