import { HoldfastError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import type { JournalEvent } from "./events.ts";
import { headsOf } from "./read.ts";

/** The number of events that the refusal names. */
const NAMED = 3;

/**
 * Refuses an act (HF-6007) when the run isn't where the actor has seen it. Called while the act is decided, so that the
 * append's own condition covers it: nothing can come between.
 */
export async function checkSeen(
  store: Store,
  row: RunRow,
  { seen }: { readonly seen?: number | undefined },
): Promise<void> {
  if (seen === undefined || seen === row.seq) return;
  const since: JournalEvent[] = [];
  for await (const { events } of headsOf(store, row.id, Math.max(1, seen + 1), row.seq))
    since.push(...events.filter(({ seq }) => seq > seen));
  throw new HoldfastError("HF-6007", { run: row.id, seen, seq: row.seq, meanwhile: inWords(since) });
}

function inWords(events: readonly JournalEvent[]): string {
  if (events.length === 0) return "it was restored or created again";
  const named = events.slice(-NAMED).map(({ kind, step, actor }) => {
    const what = kind.replaceAll("_", " ");
    return `${what}${step === "" ? "" : ` ${step}`}${actor === undefined ? "" : ` by ${actor}`}`;
  });
  const more = events.length > NAMED ? `${events.length} events, the last: ` : "";
  return `${more}${named.join(", ")}`;
}
