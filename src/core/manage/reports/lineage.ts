import { readRun } from "../../journal/door.ts";
import { readRow } from "../../journal/positions.ts";
import type { Store } from "../../store/contract.ts";
import { everyRun } from "../../store/query.ts";
import type { Origin, Parent, Run, RunStatus } from "../../types.ts";

/** A relative of a run. */
export interface Relative {
  readonly run: string;
  readonly workflow: string;
  readonly status: RunStatus;
  readonly createdAt: number;
}

/** Where a run comes from, and what came of it. */
export interface Lineage {
  readonly run: string;
  /** The runs it was forked from, the nearest first, each with the position of the fork. */
  readonly forkedFrom: readonly (Relative & Pick<Origin, "seq">)[];
  /** The runs above it, the nearest first, each with the step that started the one below. */
  readonly parents: readonly (Relative & Pick<Parent, "step">)[];
  /** The runs that it started, newest first. */
  readonly children: readonly (Relative & Pick<Parent, "step">)[];
  /** The runs that were forked from it, newest first. */
  readonly forks: readonly (Relative & Pick<Origin, "seq">)[];
  /** True when there may be more children or forks than were looked for. */
  readonly more: boolean;
}

const MOST_ABOVE = 50;
const MOST_BELOW = 200;
/** The most rows that are searched for forks: no index has them. */
const MOST_ROWS = 1_500;

const relativeOf = ({ id, workflow, status, createdAt }: Run): Relative => ({
  run: id,
  workflow,
  status,
  createdAt,
});

/** `where`: only relatives for which it returns true. */
export async function readLineage(
  store: Store,
  runId: string,
  where: (run: Run) => boolean = () => true,
): Promise<Lineage> {
  const row = await readRow(store, runId);
  const forkedFrom: Lineage["forkedFrom"][number][] = [];
  for (let at = row.origin; at && forkedFrom.length < MOST_ABOVE; ) {
    const source = await readRun(store, at.runId);
    if (!source || !where(source)) break;
    forkedFrom.push({ ...relativeOf(source), seq: at.seq });
    at = source.origin;
  }
  const parents: Lineage["parents"][number][] = [];
  for (let at = row.parent; at && parents.length < MOST_ABOVE; ) {
    const above = await readRun(store, at.runId);
    if (!above || !where(above)) break;
    parents.push({ ...relativeOf(above), step: at.step });
    at = above.parent;
  }
  const children = await store.list({ parent: runId, limit: MOST_BELOW });
  const forks: Lineage["forks"][number][] = [];
  let [rows, more] = [0, children.cursor !== null];
  for await (const one of everyRun(store, { createdAfter: row.createdAt }, 500)) {
    if (rows++ === MOST_ROWS || forks.length === MOST_BELOW) {
      more = true;
      break;
    }
    if (one.origin?.runId === runId && where(one)) forks.push({ ...relativeOf(one), seq: one.origin.seq });
  }
  return {
    run: runId,
    forkedFrom,
    parents,
    children: children.runs
      .filter(where)
      .map((one) => ({ ...relativeOf(one), step: one.parent?.step ?? "" })),
    forks,
    more,
  };
}
