import { HoldfastError } from "../../errors.ts";
import { digest } from "../../hash.ts";
import { ChainCheck } from "../../journal/journal.ts";
import { entryPages } from "../../journal/read.ts";
import type { Drop, Store } from "../../store/contract.ts";
import type { RunRow } from "../../types.ts";
import type { CheckedRun } from "./bundle-check.ts";
import { Blobs } from "./copy.ts";

/** A run that is here and goes on in a bundle: its row here, and the values that were dropped elsewhere meanwhile. */
export interface ComingBack {
  readonly here: RunRow;
  readonly drop: Drop | undefined;
}

/**
 * Compares a run that is here with its copy in a bundle. The copy must begin with all that is here, so that nothing here
 * is overwritten: what happened elsewhere is added. `undefined`: the copy has nothing new.
 */
export async function comingBack(
  store: Store,
  here: RunRow,
  { run, row }: CheckedRun,
): Promise<ComingBack | undefined> {
  const refused = (why: string) => new HoldfastError("HF-3100", { run: here.id, why });
  const meeting = run.entries.find(({ seq, count }) => seq + count - 1 === here.seq);
  const begins = meeting !== undefined && digest(meeting.head) === here.head;
  if (!begins && row.seq > here.seq) throw refused("Both have gone on by themselves since they were one.");
  if (!begins) throw refused("The run here has gone on, and the bundle is older.");
  if (here.claim.token !== null) throw refused("A worker has the run here. Pause it first.");
  return row.seq === here.seq ? undefined : { here, drop: await droppedElsewhere(store, here, run) };
}

/** Values that are here and that retention has dropped from the copy. */
async function droppedElsewhere(
  store: Store,
  here: RunRow,
  { entries, blobs }: CheckedRun["run"],
): Promise<Drop | undefined> {
  const kept = new Set(entries.flatMap(({ seq, data }) => (data === null ? [] : [seq])));
  const chain = new ChainCheck(here.id, 1, "");
  const named = new Blobs(store, here.id);
  const gone: number[] = [];
  for await (const page of entryPages(store, here.id, 1, here.seq)) {
    for (const entry of page) {
      named.of(entry, chain.take(entry).events);
      if (entry.data !== null && !kept.has(entry.seq)) gone.push(entry.seq);
    }
  }
  chain.end(here.seq, here.head);
  const unnamed = [...(await named.read()).keys()].filter((hash) => !blobs.has(hash));
  return gone.length + unnamed.length === 0 ? undefined : { entries: gone, blobs: unnamed };
}
