import type { EventKind, JournalEvent } from "../journal/events.ts";
import { parseEntry } from "../journal/journal.ts";
import type { Store } from "../store.ts";
import type { RunRow } from "../types.ts";

const PAGE = 1_000;

/**
 * The act of one of these kinds that was written under this name before: somebody has clicked twice, or was not answered and asks
 * again. Looked for in the whole journal, since others may have acted in between.
 */
export async function sentBefore(
  store: Store,
  row: RunRow,
  kinds: readonly EventKind[],
  id: string | undefined,
): Promise<JournalEvent | undefined> {
  if (id === undefined) return undefined;
  // As it stands in a header: most need not be parsed.
  const text = JSON.stringify(id);
  for (let from = 1; from <= row.seq; ) {
    const entries = await store.entries(row.id, { from, limit: PAGE });
    for (const entry of entries) {
      if (!entry.head.includes(text)) continue;
      const found = parseEntry(row.id, entry).events.find(
        ({ kind, meta }) => kinds.includes(kind) && (meta as { id?: string }).id === id,
      );
      if (found && found.seq <= row.seq) return found;
    }
    const last = entries.at(-1);
    if (!last) return undefined;
    from = last.seq + last.count;
  }
  return undefined;
}
