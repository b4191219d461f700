import type { Entry, Store } from "../store/contract.ts";
import type { EventKind } from "./events.ts";
import { type OutlinedEntry, outlineEntry } from "./journal.ts";
import { entryPages, PAGE } from "./read.ts";

/** A page of a run that is restored. With `outlines`, its entries came without their data, and were parsed. */
export interface RestoredPage {
  readonly entries: readonly Entry[];
  readonly outlines?: readonly OutlinedEntry[];
}

/** The length of the values that are kept in memory when a run is restored to go on. */
export const MOST_KEPT = 32 * 1024 * 1024;

/**
 * The entries of a run that is restored. So much of it is read whole and verified at once. What comes after that comes
 * without its data, as long as it holds no other values than outcomes of steps, which the body asks for one by one.
 */
export async function* restoredPages(
  store: Store,
  runId: string,
  { from, upTo, keeps }: { readonly from: number; readonly upTo: number; readonly keeps: number },
): AsyncGenerator<RestoredPage> {
  let [next, most, kept] = [from, keeps, 0];
  while (next <= upTo) {
    const outlines = kept < most ? undefined : store.outlines?.bind(store);
    const read = outlines ?? store.entries.bind(store);
    // Entries written after `upTo` was read belong to a later state.
    const page = (await read(runId, { from: next, limit: PAGE })).filter(({ seq }) => seq <= upTo);
    if (page.length === 0) return;
    const found: RestoredPage = outlines ? outlined(runId, page) : { entries: page };
    const last = found.entries.at(-1);
    if (last) yield found;
    // A damaged entry may claim to end where it began, or before; reading continues anyway.
    if (last) next = Math.max(next + 1, last.seq + last.count);
    if (!outlines) kept += lengthOf(page);
    // A value that is needed at once: more is read whole, and the next attempt comes later.
    else if (found.entries.length < page.length) most = kept + Math.max(1, keeps);
  }
}

const lengthOf = (page: readonly Entry[]): number =>
  page.reduce((sum, { data }) => sum + (data?.length ?? 0), 0);

/** The entries of a state that is only looked at: all of it is read and verified at once. */
export async function* wholePages(
  store: Store,
  runId: string,
  from: number,
  upTo: number,
): AsyncGenerator<RestoredPage> {
  for await (const entries of entryPages(store, runId, from, upTo)) yield { entries };
}

/** True when a value may stay in the store until it is asked for. */
const isLazy = (kind: EventKind | undefined): boolean =>
  kind === "step_completed" || kind === "summary_taken";

/** The entries up to the first one with a value that is needed at once. */
function outlined(runId: string, page: readonly Entry[]): RestoredPage {
  const outlines: OutlinedEntry[] = [];
  for (const entry of page) {
    const outline = outlineEntry(runId, entry);
    const { places, events } = outline;
    if (places.some((place, index) => place && !isLazy(events[index]?.kind))) break;
    outlines.push(outline);
  }
  return { entries: page.slice(0, outlines.length), outlines };
}
