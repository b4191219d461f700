import type { Entry, Store } from "../store/contract.ts";
import type { JournalEvent } from "./events.ts";
import { parseEntry } from "./journal.ts";

/** Small enough that nothing else in the process waits long, large enough that a page outweighs the request. */
export const PAGE = 2_000;

/** Entries from the one that contains `from` to the one that contains `upTo`, page by page. */
export async function* entryPages(
  store: Pick<Store, "entries">,
  runId: string,
  from: number,
  upTo: number,
  limit = PAGE,
): AsyncGenerator<readonly Entry[]> {
  for (let next = from; next <= upTo; ) {
    const page = await store.entries(runId, { from: next, limit });
    const last = page.at(-1);
    if (!last) return;
    // Entries written after `upTo` was read belong to a later state.
    yield last.seq > upTo ? page.filter(({ seq }) => seq <= upTo) : page;
    // A damaged entry may claim to end where it began, or before; reading continues anyway.
    next = Math.max(next + 1, last.seq + last.count);
  }
}

/** Pages of entries for a reader of heads: without the data, where the store can leave it out. */
export const headPages = (
  store: Pick<Store, "entries" | "outlines">,
  runId: string,
  from: number,
  upTo: number,
  limit = PAGE,
): AsyncGenerator<readonly Entry[]> =>
  entryPages({ entries: (store.outlines ?? store.entries).bind(store) }, runId, from, upTo, limit);

/** The entries of {@link entryPages} one by one. */
export async function* entriesOf(
  store: Pick<Store, "entries">,
  runId: string,
  from: number,
  upTo: number,
): AsyncGenerator<Entry> {
  for await (const page of entryPages(store, runId, from, upTo)) yield* page;
}

/** The entries up to `upTo`, from the last one backwards. */
export async function* entriesFromEnd(
  store: Pick<Store, "entries">,
  runId: string,
  upTo: number,
  limit = PAGE,
): AsyncGenerator<Entry> {
  for (let end = upTo; end > 0; end -= limit) {
    const page = await store.entries(runId, { from: Math.max(1, end - limit + 1), limit });
    for (const entry of page.filter(({ seq }) => seq <= end).reverse()) yield entry;
  }
}

/** The entry that contains a position, or the first one after it. */
export async function entryAt(
  store: Pick<Store, "entries">,
  runId: string,
  seq: number,
): Promise<Entry | undefined> {
  const [entry] = await store.entries(runId, { from: seq, limit: 1 });
  return entry;
}

/** The events of an entry without their values, which may be gone or damaged. */
export const headEvents = (runId: string, entry: Entry): readonly JournalEvent[] =>
  parseEntry(runId, { ...entry, data: null }).events;

/** Entries from the one that contains `from` to the one that contains `upTo`, each with its events without their values. */
export async function* headsOf(
  store: Store,
  runId: string,
  from: number,
  upTo: number,
): AsyncGenerator<{ readonly entry: Entry; readonly events: readonly JournalEvent[] }> {
  for await (const page of entryPages(store, runId, from, upTo))
    for (const entry of page) yield { entry, events: headEvents(runId, entry) };
}

/** The event at a position, without its value; `undefined` when there is none. */
export async function headEventAt(
  store: Store,
  runId: string,
  seq: number,
): Promise<JournalEvent | undefined> {
  const entry = await entryAt(store, runId, seq);
  return entry && headEvents(runId, entry).find((event) => event.seq === seq);
}

/** The event at a position, with its value; `undefined` when there is none that can be read. */
export async function eventAt(store: Store, runId: string, seq: number): Promise<JournalEvent | undefined> {
  const entry = await entryAt(store, runId, seq);
  try {
    return entry && parseEntry(runId, entry).events.find((event) => event.seq === seq);
  } catch {
    return undefined;
  }
}
