import { isRecord } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import { addressOf } from "../core/journal/address.ts";
import { entryPages, headEvents } from "../core/journal/read.ts";
import { Values } from "../core/journal/values.ts";
import { silentLogger } from "../core/logger.ts";
import type { Store } from "../core/store/contract.ts";
import { everyRun } from "../core/store/query.ts";
import type { RunRow } from "../core/types.ts";

/** How many of the newest runs are searched. */
const MOST = 1_000;

/** The checkpoint whose record has this UUID: a phase's, a layer's. */
export async function findRecord(
  store: Store,
  id: string,
): Promise<{ run: RunRow; address: string } | undefined> {
  let searched = 0;
  for await (const run of everyRun(store)) {
    if (searched++ >= MOST) return undefined;
    const seq = await positionOf(store, run, id.toLowerCase());
    if (seq !== undefined) return { run, address: addressOf(run.id, seq) };
  }
  return undefined;
}

/** Searched in the text first, so that nearly all entries can be skipped unparsed. */
const RECORD = '"record":"';

async function positionOf(store: Store, run: RunRow, id: string): Promise<number | undefined> {
  const values = new Values(store, { valueBytes: Infinity, warnBytes: Infinity }, silentLogger);
  for await (const page of entryPages(store, run.id, 1, run.seq))
    for (const entry of page) {
      if (!entry.head.includes(RECORD)) continue;
      for (const { kind, seq } of headEvents(run.id, entry))
        if (kind === "checkpoint_marked" && (await idOf(values, run.id, seq)) === id) return seq;
    }
  return undefined;
}

async function idOf(values: Values, runId: string, seq: number): Promise<string | undefined> {
  try {
    const row = await values.at(runId, seq);
    const id = isRecord(row) ? (row["checkpoint_id"] ?? row["id"]) : undefined;
    return typeof id === "string" ? id.toLowerCase() : undefined;
  } catch (error) {
    // Dropped or damaged: it can't be gone back to anyway.
    if (HoldfastError.is(error)) return undefined;
    throw error;
  }
}
