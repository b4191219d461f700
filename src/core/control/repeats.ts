import type { EventKind, JournalEvent } from "../journal/events.ts";
import { entryAt, headEvents, headPages } from "../journal/read.ts";
import { keepRecent } from "../recent.ts";
import type { Entry, Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";

/** The number of runs whose act names are cached. */
const KEPT = 64;

type Act = "pause" | "resume" | "cancel" | "answer" | "resolve";

const KINDS: Readonly<Record<Act, readonly EventKind[]>> = {
  pause: ["pause_requested"],
  resume: ["run_resumed"],
  cancel: ["cancel_requested", "run_cancelled"],
  answer: ["gate_answered"],
  resolve: ["step_resolved"],
};

/** The named acts of a run, as far as its journal was read: up to the entry `last`. */
interface Named {
  last: Entry | undefined;
  readonly acts: JournalEvent[];
}

const known = new WeakMap<Store, Map<string, Named>>();

/**
 * Finds the act already written under this name: a person clicked twice, or got no answer and asks again. Searches the
 * whole journal, because others may have acted in between; entries are read only once.
 */
export async function sentBefore(
  store: Store,
  row: RunRow,
  act: Act,
  id: string | undefined,
): Promise<JournalEvent | undefined> {
  if (id === undefined) return undefined;
  const { acts } = await namedActs(store, row);
  return acts.find(({ kind, meta, seq }) => {
    const { id: name, act: what } = meta as { readonly id?: string; readonly act?: string };
    const isOne = kind === "act_noted" ? what === act : KINDS[act].includes(kind);
    return isOne && name === id && seq <= row.seq;
  });
}

async function namedActs(store: Store, row: RunRow): Promise<Named> {
  const runs = known.get(store) ?? new Map<string, Named>();
  known.set(store, runs);
  const kept = runs.get(row.id);
  runs.delete(row.id);
  const named = kept && (await isStill(store, row, kept)) ? kept : { last: undefined, acts: [] };
  for await (const entries of headPages(store, row.id, after(named.last), row.seq)) {
    for (const entry of entries) named.acts.push(...actsIn(row.id, entry));
    named.last = entries.at(-1);
  }
  keepRecent(runs, row.id, named, KEPT);
  return named;
}

const after = (entry: Entry | undefined): number => (entry ? entry.seq + entry.count : 1);

/** A restored store may hold another journal under the same id. */
async function isStill(store: Store, row: RunRow, { last }: Named): Promise<boolean> {
  if (!last) return true;
  const entry = await entryAt(store, row.id, last.seq);
  return entry?.seq === last.seq && entry.head === last.head;
}

/** Without values, which are read on demand. */
function actsIn(runId: string, entry: Entry): JournalEvent[] {
  // Matches the text in a head, so that most need not be parsed.
  if (!entry.head.includes('"id":')) return [];
  return headEvents(runId, entry).filter(({ meta }) => "id" in meta);
}
