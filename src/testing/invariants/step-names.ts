import type { JournalEvent, Migrated } from "../../core/journal/events.ts";
import { renamedKey } from "../../core/journal/rename.ts";
import { isUndo, keyOf, segmentsOf, undoKey, undoneBy } from "../../core/keys.ts";

/** The run's own events: in a fork, everything after the copy. */
export const ownEvents = (events: readonly JournalEvent[]): readonly JournalEvent[] =>
  events.slice(events.findLastIndex(({ kind }) => kind === "run_forked") + 1);

/** A key after a migration. The step that undoes another is named after it. */
export function moved(key: string, change: Migrated): string {
  if (!isUndo(key)) return renamedKey(key, change);
  const [, step = "", ...inside] = segmentsOf(key);
  return keyOf([undoKey(renamedKey(undoneBy(step), change)), ...inside]);
}

/** Identifies steps in a journal that renames them: each is known by its first key. */
export class StepNames {
  #first = new Map<string, string>();
  readonly #taken = new Set<string>();

  see(event: JournalEvent): void {
    if (event.kind !== "run_migrated") return;
    const entries = [...this.#first];
    this.#first = new Map(entries.map(([key, first]) => [moved(key, event.meta), first]));
  }

  /** The first key of the step that has this key now. */
  of(key: string): string {
    const known = this.#first.get(key);
    if (known !== undefined) return known;
    let first = key;
    // Another step may have begun under this key and have a new key now.
    while (this.#taken.has(first)) first += "'";
    this.#taken.add(first);
    this.#first.set(key, first);
    return first;
  }
}
