import { digest } from "../hash.ts";
import type { RunRow } from "../types.ts";
import type { Store } from "./contract.ts";

/**
 * The run whose journal records deletions. Each line is written before the runs it names are erased, so that a process
 * that misses a run can tell a deletion from a store that went back in time. Lists leave this run out.
 */
export const DELETED_RUNS = "holdfast-deleted-runs";

const PAGE = 500;

/** Names one run without its id: another run that gets the same id later has another mark. */
export const deletionMark = ({ id, createdAt }: Pick<RunRow, "id" | "createdAt">): string =>
  digest(`deleted ${JSON.stringify([id, createdAt])}`).slice(0, 22);

/** True when the record of deletions names this run. */
export async function wasDeleted(store: Pick<Store, "entries">, run: Pick<RunRow, "id" | "createdAt">) {
  const mark = `"${deletionMark(run)}"`;
  for (let from = 1; ; ) {
    const page = await store.entries(DELETED_RUNS, { from, limit: PAGE });
    if (page.some(({ head }) => head.includes(mark))) return true;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return false;
    from = last.seq + last.count;
  }
}
