import type { CheckpointListOptions, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { isEqual } from "../diff.ts";
import { wholeJson } from "./brief-messages.ts";
import { savedAt, Written } from "./past.ts";
import type { ThreadState } from "./state.ts";
import type { StoredValues } from "./stored.ts";
import type { Thread } from "./thread.ts";
import { tupleOf } from "./tuple.ts";

/** Which checkpoints of a thread are asked for. */
interface Only {
  readonly namespace: string | undefined;
  readonly id: string | undefined;
}

interface Place {
  readonly namespace: string;
  readonly id: string;
}

const PAGE = 100;
const placeOf = ({ namespace, id }: Place): string => `${namespace}\n${id}`;

/** The checkpoints of a thread, newest first. States are made for one page at a time, because each holds everything. */
export async function* listed(
  thread: Thread,
  only: Only,
  options: CheckpointListOptions & { readonly limit: number },
  values: StoredValues,
): AsyncGenerator<CheckpointTuple> {
  const written = new Written();
  const found = new Map<string, Place>();
  for await (const moment of thread.run.history()) {
    const saved = savedAt(moment);
    written.take(moment);
    if (!saved || !isAsked(saved.namespace, saved.state, only, options)) continue;
    const place = { namespace: saved.namespace, id: saved.state.checkpoint.id };
    found.set(placeOf(place), place);
  }
  const places = [...found.values()].reverse().slice(0, options.limit);
  for (let from = 0; from < places.length; from += PAGE) {
    const page = places.slice(from, from + PAGE);
    const states = await statesOf(thread, page);
    for (const { namespace, id } of page) {
      const state = states.get(placeOf({ namespace, id }));
      if (!state) continue;
      thread.met(id);
      const parentWrites = written.of(namespace, state.checkpoint.parent ?? "");
      const own = written.of(namespace, id);
      yield await tupleOf(values, { thread, namespace, state, writes: own, parentWrites });
    }
  }
}

async function statesOf(thread: Thread, page: readonly Place[]): Promise<ReadonlyMap<string, ThreadState>> {
  const wanted = new Set(page.map(placeOf));
  const states = new Map<string, ThreadState>();
  for await (const { namespace, state } of thread.past().saved()) {
    const place = placeOf({ namespace, id: state.checkpoint.id });
    if (wanted.has(place)) states.set(place, state);
  }
  return states;
}

function isAsked(
  namespace: string,
  state: ThreadState,
  only: Only,
  { before, filter = {} }: CheckpointListOptions,
): boolean {
  if (only.namespace !== undefined && namespace !== only.namespace) return false;
  if (only.id !== undefined && state.checkpoint.id !== only.id) return false;
  const limit: unknown = before?.configurable?.["checkpoint_id"];
  if (typeof limit === "string" && state.checkpoint.id >= limit) return false;
  const asked = Object.entries(filter);
  if (asked.length === 0) return true;
  const metadata: unknown = JSON.parse(wholeJson(state.meta[1]));
  return asked.every(([key, value]) => isEqual(Reflect.get(Object(metadata), key), value));
}
