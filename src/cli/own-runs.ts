import type { DueQuery, Store } from "../core/store/contract.ts";
import { everyRun } from "../core/store/query.ts";
import { ended, type RunRow } from "../core/types.ts";

/**
 * Wraps the store so that only one run and those below it are ever due. Without this, a command for one run would take
 * up every crashed run of the same workflow.
 */
export function onlyFamilyOf(store: Store, runId: string): Store {
  const due = async ({ workflows, limit }: DueQuery): Promise<readonly RunRow[]> => {
    const row = await store.read(runId);
    if (!row) return [];
    const now = await store.now();
    const isDue = ({ workflow, wakeAt, claim }: RunRow): boolean =>
      workflows.includes(workflow) && wakeAt !== null && wakeAt <= now && claim.until <= now;
    const found: RunRow[] = [];
    for await (const one of family(store, row)) {
      if (isDue(one)) found.push(one);
      if (found.length === limit) break;
    }
    return found;
  };
  return new Proxy(store, {
    get(target, key) {
      if (key === "due") return due;
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** A run, the runs it started, and theirs. */
async function* family(store: Store, row: RunRow): AsyncGenerator<RunRow> {
  yield row;
  if (row.openChildren === 0 && ended(row.status)) return;
  for await (const child of everyRun(store, { parent: row.id })) yield* family(store, child);
}
