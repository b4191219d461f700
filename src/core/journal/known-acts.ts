import { defined } from "../defined.ts";
import { keepRecent } from "../recent.ts";
import type { Entry, Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import type { JournalEvent } from "./events.ts";
import { entryAt, headEvents, headPages } from "./read.ts";
import { type KnownAct, LONG, newestSummary } from "./summary.ts";
import type { Values } from "./values.ts";

/** The number of runs whose acts are cached. */
const KEPT = 64;

/** The acts of a run that have an id, as far as its journal was read: up to the entry `last`. */
interface Known {
  last: Entry | undefined;
  readonly acts: KnownAct[];
}

const known = new WeakMap<Store, Map<string, Known>>();

/**
 * Every act of a run that has an id, in order. A long run is read from its newest summary on, another one from its
 * beginning, and its entries only once.
 */
export async function knownActs(store: Store, values: Values, row: RunRow): Promise<readonly KnownAct[]> {
  const runs = known.get(store) ?? new Map<string, Known>();
  known.set(store, runs);
  const kept = runs.get(row.id);
  runs.delete(row.id);
  const found = kept && (await isStill(store, row, kept)) ? kept : await fromSummary(store, values, row);
  for await (const entries of headPages(store, row.id, after(found.last), row.seq)) {
    for (const entry of entries) found.acts.push(...actsIn(row.id, entry));
    found.last = entries.at(-1);
  }
  keepRecent(runs, row.id, found, KEPT);
  return found.acts;
}

async function fromSummary(store: Store, values: Values, row: RunRow): Promise<Known> {
  const summary = row.seq < LONG ? undefined : await newestSummary(store, values, row);
  const last = summary && (await entryAt(store, row.id, summary.actsUpTo));
  return { last, acts: last ? [...summary.acts] : [] };
}

const after = (entry: Entry | undefined): number => (entry ? entry.seq + entry.count : 1);

/** A restored store may hold another journal under the same id. */
async function isStill(store: Store, row: RunRow, { last }: Known): Promise<boolean> {
  if (!last) return true;
  const entry = await entryAt(store, row.id, last.seq);
  return entry?.seq === last.seq && entry.head === last.head;
}

/** Without values, which are read on demand. */
function actsIn(runId: string, entry: Entry): KnownAct[] {
  // Matches the text in a head, so that most need not be parsed.
  if (!entry.head.includes('"id":')) return [];
  return headEvents(runId, entry).flatMap((event) => knownAct(event) ?? []);
}

/** The act that an event is, if it has an id. */
export function knownAct({ seq, kind, step, meta }: JournalEvent): KnownAct | undefined {
  if (kind === "signal_received" || !("id" in meta) || meta.id === undefined) return undefined;
  const { id, act, choice } = meta as {
    readonly id: string;
    readonly act?: string;
    readonly choice?: string;
  };
  return { seq, kind, step, id, ...defined({ act, choice }) };
}
