import type { Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import type { EventKind, JournalEvent } from "./events.ts";
import { ChainCheck, outlineEntry } from "./journal.ts";
import { eventAt, headEvents, headPages } from "./read.ts";
import { isUnfinished, type StepRecord } from "./records.ts";
import { RunState } from "./state.ts";
import { isDamage } from "./unreadable.ts";
import type { Values } from "./values.ts";

/** Readers of a run with fewer events read all of it. */
export const LONG = 2_000;

/** How many events lie between two summaries of a run: more in a very long one, because each looks at every step. */
export const summaryEvery = (seq: number): number => Math.max(1_000, Math.ceil(seq / 100));

/** A summary that would list more than this isn't written: readers then read all of the run. */
export const MOST_LISTED = 2_000;

/** An act that was written under an id, or was noted because there was nothing to do. */
export interface KnownAct {
  readonly seq: number;
  readonly kind: EventKind;
  readonly step: string;
  readonly id: string;
  /** The act that was noted. */
  readonly act?: string;
  /** The answer at a gate. */
  readonly choice?: string;
}

/**
 * The part of a long run's state that other processes ask for: open steps, messages, and the acts that have an id. Its
 * worker writes one now and then, so that the first look of a process needn't read the whole journal.
 */
export interface Summary {
  /** Its steps and messages are as of this position, its acts as of the other one, which isn't later. */
  readonly upTo: number;
  readonly actsUpTo: number;
  readonly open: readonly (readonly [step: string, record: Omit<StepRecord, "data">])[];
  readonly signals: readonly (readonly [seq: number, id: string, name: string, at: number, taken: boolean])[];
  readonly acts: readonly KnownAct[];
}

/** Failed steps count as open, because a resume may let them be tried afresh. `undefined` when it would be too long. */
export function summarize(
  state: RunState,
  { upTo, actsUpTo, acts }: Pick<Summary, "upTo" | "actsUpTo" | "acts">,
): Summary | undefined {
  const { signals } = state;
  if (signals.length + acts.length > MOST_LISTED) return undefined;
  const open: [string, Omit<StepRecord, "data">][] = [];
  for (const [step, { data: _, ...record }] of state.steps()) {
    if (!isUnfinished(record) && record.status !== "failed") continue;
    open.push([
      step,
      Object.fromEntries(Object.entries(record).filter(([, one]) => one !== undefined)) as never,
    ]);
    if (open.length > MOST_LISTED) return undefined;
  }
  return {
    upTo,
    actsUpTo,
    open,
    signals: signals.map(({ seq, id, name, at, taken }) => [seq, id, name, at, taken]),
    acts,
  };
}

/** The newest summary of a run; `undefined` when none is near its end, or when its value is gone or damaged. */
export async function newestSummary(store: Store, values: Values, row: RunRow): Promise<Summary | undefined> {
  const seq = await summaryBefore(store, row);
  if (seq === undefined) return undefined;
  try {
    const event = await eventAt(store, row.id, seq);
    if (event?.kind !== "summary_taken" || event.data === undefined) return undefined;
    return (await values.decode(row.id, event.data)) as Summary;
  } catch (error) {
    // Reading all of it tells what is wrong.
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** Where the newest summary stands, searched from the end of the journal as far back as one is to be expected. */
async function summaryBefore(store: Store, row: RunRow): Promise<number | undefined> {
  const least = Math.max(1, row.seq - 3 * summaryEvery(row.seq));
  for (let end = row.seq; end >= least; end -= BACK) {
    const heads = headPages(store, row.id, Math.max(least, end - BACK + 1), end, BACK);
    let found: number | undefined;
    for await (const page of heads)
      for (const entry of page)
        if (entry.head.includes('"summary_taken"'))
          found = headEvents(row.id, entry).findLast(({ kind }) => kind === "summary_taken")?.seq ?? found;
    if (found !== undefined) return found;
  }
  return undefined;
}

const BACK = 500;

/** The events after a position, without their values, and verified up to the end of the run. */
export async function* eventsSince(store: Store, row: RunRow, seq: number): AsyncGenerator<JournalEvent> {
  let chain: ChainCheck | undefined;
  for await (const page of headPages(store, row.id, seq + 1, row.seq)) {
    for (const entry of page) {
      chain ??= new ChainCheck(row.id, entry.seq);
      for (const event of chain.follow(entry, outlineEntry(row.id, entry)).events)
        if (event.seq > seq) yield event;
    }
  }
  chain?.end(row.seq, row.head);
}

/**
 * The open part of a long run's state, from its newest summary and what was written since: steps that aren't finished,
 * messages without their content. Finished steps are missing. `undefined` when the run has no summary to start from.
 */
export async function openState(store: Store, values: Values, row: RunRow): Promise<RunState | undefined> {
  const summary = await newestSummary(store, values, row);
  if (!summary) return undefined;
  const state = new RunState();
  for (const [step, record] of summary.open) state.put(step, { ...record });
  for (const [seq, id, name, at, taken] of summary.signals)
    state.signals.push({ seq, id, name, at, taken, data: undefined });
  for await (const event of eventsSince(store, row, summary.upTo)) state.apply(event);
  return state;
}
