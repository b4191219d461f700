import type { Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import type { EventKind, JournalEvent } from "./events.ts";
import { ChainCheck } from "./journal.ts";
import { entryPages } from "./read.ts";
import type { RowFold } from "./row-fold.ts";
import type { RunState } from "./state.ts";

/** A longer journal isn't held: its run may never be continued here. */
const MOST_BYTES = 8_000_000;

/** A run as it was read and verified up to a position. */
export interface ReadRun {
  readonly row: RunRow;
  readonly state: RunState;
  readonly fold: RowFold;
}

/** The run that was read last in order to continue it, until its worker takes it. So it isn't read twice. */
export class JustRead {
  #last: ReadRun | undefined;

  /** From here on, nobody else may use its state. False when it is too long to be held. */
  hold(read: ReadRun): boolean {
    const { tailBytes, snapshotBytes } = read.state;
    this.#last = tailBytes + snapshotBytes > MOST_BYTES ? undefined : read;
    return this.#last !== undefined;
  }

  take(runId: string): ReadRun | undefined {
    const read = this.#last?.row.id === runId ? this.#last : undefined;
    if (read) this.#last = undefined;
    return read;
  }
}

/** The state with what was written since; `undefined` when the run must be read from the start. */
export async function readOn(store: Store, read: ReadRun, row: RunRow): Promise<RunState | undefined> {
  const { state, fold } = read;
  const since = await eventsSince(store, read.row, row);
  if (!since) return undefined;
  try {
    for (const event of since.events) state.apply(event);
    fold.take(since.events);
  } catch {
    return undefined;
  }
  state.tailBytes += since.bytes;
  return fold.problem(row) === undefined ? state : undefined;
}

/** After these events a state may hold values that are no longer available. */
const VOIDS: ReadonlySet<EventKind> = new Set<EventKind>(["values_dropped", "key_wrapped"]);

interface Since {
  readonly events: readonly JournalEvent[];
  readonly bytes: number;
}

/**
 * What was written to a run since a position that was verified; `undefined` when a state from there can't be brought up
 * to date. Reading all of the run reports what is wrong.
 */
export async function eventsSince(
  store: Store,
  { seq, head }: Pick<RunRow, "seq" | "head">,
  row: RunRow,
): Promise<Since | undefined> {
  if (row.seq < seq || (row.seq === seq && row.head !== head)) return undefined;
  const chain = new ChainCheck(row.id, seq + 1, head);
  try {
    const events: JournalEvent[] = [];
    let bytes = 0;
    for await (const entries of entryPages(store, row.id, seq + 1, row.seq)) {
      for (const entry of entries) {
        events.push(...chain.take(entry).events);
        bytes += entry.head.length + (entry.data?.length ?? 0);
      }
    }
    if (row.seq > seq) chain.end(row.seq, row.head);
    return events.some(({ kind, dropped }) => VOIDS.has(kind) || dropped) ? undefined : { events, bytes };
  } catch {
    return undefined;
  }
}
