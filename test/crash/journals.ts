import type { Strike } from "../../lab/crash/config.ts";
import type { Site } from "../../lab/crash/site.ts";
import type { JournalEvent } from "../../src/core/journal/events.ts";
import { parseEntry } from "../../src/core/journal/journal.ts";
import type { RunRow } from "../../src/core/types.ts";

/** A run as it was left: its row and the events of each entry; `null` when there is none. */
export async function journalOf(
  site: Site,
  id: string,
): Promise<{ readonly row: RunRow; readonly entries: readonly (readonly JournalEvent[])[] } | null> {
  return site.read(async (store) => {
    const row = await store.read(id);
    const entries = row ? await store.entries(id, { from: 1, limit: row.seq }) : [];
    return row && { row, entries: entries.map((entry) => parseEntry(id, entry).events) };
  });
}

export const eventsOf = async (site: Site, id: string): Promise<readonly JournalEvent[]> =>
  ((await journalOf(site, id))?.entries ?? []).flat();

/** Runs the cases a few at a time: a process often only waits for the claim of a dead one. */
export async function inLanes<T>(
  cases: readonly T[],
  work: (one: T, index: number) => Promise<void>,
): Promise<void> {
  const left = [...cases.entries()];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

const LANES = 3;

/** Both sides of these writes of a process. */
export const aroundWrites = (from: number, to: number): Strike[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index).flatMap((write): Strike[] => [
    { write, side: "before" },
    { write, side: "after" },
  ]);
