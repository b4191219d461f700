import { HoldfastError } from "../errors.ts";
import { digest } from "../hash.ts";
import type { Change } from "../store/changes.ts";
import type { Store } from "../store/contract.ts";
import { DELETED_RUNS } from "../store/deleted.ts";
import { everyRun } from "../store/query.ts";
import { type AuditLog, type LeafDraft, MOST_LEAVES } from "./log.ts";
import { parseLeaf } from "./proof/leaf.ts";

type RunHead = LeafDraft & { readonly run: string; readonly seq: number; readonly head: string };

/**
 * Appends a leaf for each run that has moved since the last time: its position and the hash of its last entry. How far
 * the store's changes were looked at is written with the leaves, so a process that is killed repeats nothing, and of
 * two that collect at the same time one finds that it is done.
 */
export async function collectHeads(store: Store, log: AuditLog): Promise<number> {
  await log.refresh();
  let count = 0;
  for (;;) {
    const from = log.position;
    if (from === null || !store.changes) return count + (await collectByScan(store, log));
    const found = await changedSince(store, from);
    if (found === null) return count + (await collectByScan(store, log));
    if (found.heads.length === 0) return count;
    const isOwn = () => (log.position === from ? found.heads : null);
    if ((await log.append(isOwn, found.position)) !== null) count += found.heads.length;
    if (!found.hasMore && log.position === found.position) return count;
  }
}

interface Found {
  readonly heads: readonly RunHead[];
  readonly position: string;
  readonly hasMore: boolean;
}

/** Runs that have moved, as many as fit into one batch; `null`: the store can't tell. */
async function changedSince(store: Store, after: string): Promise<Found | null> {
  const page = await store.changes?.({ after, isNewest: true, limit: MOST_LEAVES });
  if (!page || page.changes === null) return null;
  const { changes, position, hasMore } = page;
  return { heads: changes.map(headOf), position, hasMore };
}

const headOf = ({ run, entry }: Change): RunHead => ({
  act: "run_head",
  run: run.id,
  created: run.createdAt,
  seq: entry.seq + entry.count - 1,
  head: digest(entry.head),
});

/**
 * Looks at all runs: the first time, and in stores that can't tell what has changed. It begins again when somebody else
 * has written to the log meanwhile, and may have done the same.
 */
async function collectByScan(store: Store, log: AuditLog, tries = 10): Promise<number> {
  await log.refresh();
  let size = log.size;
  const start = (await store.changes?.({ after: null, limit: 1 }))?.position;
  const known = new Map<string, string>();
  for await (const batch of log.leaves())
    for (const text of batch) {
      const leaf = text.includes('"act":"run_head"') ? parseLeaf(text) : undefined;
      if (leaf) known.set(leaf.run ?? "", `${leaf.created} ${leaf.head}`);
    }
  let count = 0;
  let fresh: RunHead[] = [];
  const flush = async (position?: string): Promise<boolean> => {
    const heads = fresh;
    fresh = [];
    if (heads.length === 0) return true;
    const isWritten = (await log.append(() => (log.size === size ? heads : null), position)) !== null;
    size = log.size;
    if (isWritten) count += heads.length;
    return isWritten;
  };
  const again = () => collectByScan(store, log, tries - 1);
  const deleted = await store.read(DELETED_RUNS);
  for await (const row of rowsAnd(store, deleted)) {
    const { id: run, createdAt: created, seq, head, damage } = row;
    if (damage !== undefined || known.get(run) === `${created} ${head}`) continue;
    fresh.push({ act: "run_head", run, created, seq, head });
    if (fresh.length === MOST_LEAVES && !(await flush())) return again();
  }
  if (await flush(start !== undefined && start !== log.position ? start : undefined)) return count;
  if (tries > 0) return again();
  throw new HoldfastError("HF-3209", { tries: 10 });
}

async function* rowsAnd(store: Store, deleted: Awaited<ReturnType<Store["read"]>>) {
  if (deleted) yield deleted;
  yield* everyRun(store);
}
