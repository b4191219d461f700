import { checkKeys, checkWhole, keysOf } from "../../check-options.ts";
import { Decisions, isAtGate, type OpenGate, PARKED } from "../../control/decisions.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { cursorAfter } from "../../store/query.ts";
import type { Run } from "../../types.ts";

export interface GateQuery {
  /** About how many gates to return: all of the run that fills the page are on it. Default 50. */
  readonly limit?: number;
  /** Where the page starts: the `cursor` of the one before. */
  readonly cursor?: string;
  /** Only gates of runs for which it returns true. */
  readonly where?: (run: Run) => boolean;
}

export interface GatePage {
  /** Of the newest run first, and of one run the longest open first. */
  readonly gates: readonly OpenGate[];
  /** Pass it to get what comes next, of which there may be nothing; `null` when this is all. */
  readonly cursor: string | null;
}

const LIMIT = 50;
const MOST = 500;
const ROWS = 200;
/** How many journals are read at a time: one after the other, a database far away takes a round trip for each. */
const TOGETHER = 8;
/** The most rows that one page looks at. */
const MOST_ROWS = 1_000;

/** The open gates of all runs, one page at a time. */
export async function gatePage(parts: EngineParts, query: GateQuery): Promise<GatePage> {
  checkKeys(query, keysOf<GateQuery>({ limit: true, cursor: true, where: true }));
  const limit = checkWhole("limit", query.limit ?? LIMIT, 1, MOST);
  const { where = () => true } = query;
  const decisions = new Decisions(parts);
  const gates: OpenGate[] = [];
  let cursor = query.cursor ?? null;
  for (let rows = 0; rows < MOST_ROWS; rows += ROWS) {
    const page = await parts.store.list({ ...PARKED, limit: ROWS, ...(cursor === null ? {} : { cursor }) });
    const wanted = page.runs.filter((row) => isAtGate(row) && where(row));
    for (let from = 0; from < wanted.length; from += TOGETHER) {
      const some = wanted.slice(from, from + TOGETHER);
      const found = await Promise.all(some.map(({ id }) => decisions.gates(id)));
      for (const [index, row] of some.entries()) {
        gates.push(...(found[index] ?? []).sort((a, b) => a.since - b.since));
        if (gates.length < limit) continue;
        return { gates, cursor: row === page.runs.at(-1) ? page.cursor : cursorAfter(row) };
      }
    }
    cursor = page.cursor;
    if (cursor === null) break;
  }
  return { gates, cursor };
}
