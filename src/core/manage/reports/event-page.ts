import { checkWhole } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import type { EventKind } from "../../journal/events.ts";
import { readRow } from "../../journal/positions.ts";
import type { Store } from "../../store/contract.ts";
import { journalOf } from "./stories.ts";

/** An event of a run without its value. */
export interface EventLine {
  readonly run: string;
  readonly seq: number;
  readonly at: number;
  readonly kind: EventKind;
  readonly step: string;
  readonly actor?: string;
  readonly reason?: string;
}

export interface EventQuery {
  /** Only events after this position. */
  readonly after?: number;
  /** The most events to return. Default 200. */
  readonly limit?: number;
}

export interface EventPage {
  readonly events: readonly EventLine[];
  /** Pass it as `after` to get what comes next; `null` when there is nothing more now. */
  readonly next: number | null;
}

const LIMIT = 200;
const MOST = 1_000;

/** What happened in a run, oldest first, one page at a time. */
export async function readEvents(store: Store, runId: string, query: EventQuery): Promise<EventPage> {
  const after = checkWhole("after", query.after ?? 0, 0);
  const limit = checkWhole("limit", query.limit ?? LIMIT, 1, MOST);
  const row = await readRow(store, runId);
  const upTo = { ...row, seq: Math.min(row.seq, after + limit) };
  const events: EventLine[] = [];
  for await (const event of journalOf(store, upTo, after + 1))
    if (event.seq <= upTo.seq) events.push(lineOf(runId, event));
  return { events, next: upTo.seq < row.seq ? upTo.seq : null };
}

type Told = Pick<EventLine, "seq" | "at" | "kind" | "step" | "actor"> & { readonly meta: object };

export function lineOf(run: string, { seq, at, kind, step, actor, meta }: Told): EventLine {
  const reason = "reason" in meta && typeof meta.reason === "string" ? meta.reason : undefined;
  return { run, seq, at, kind, step, ...defined({ actor, reason }) };
}
