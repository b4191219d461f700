import { checkText, checkWhole } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import type { JournalEvent } from "../../journal/events.ts";
import type { Store } from "../../store/contract.ts";
import type { RunRow } from "../../types.ts";
import { type EventLine, lineOf } from "./event-page.ts";
import { isWithin, linksOf, type Period, type ReportQuery, readPeriod, runsIn } from "./period.ts";

export interface ActQuery extends ReportQuery {
  /** Only what this person or program did. */
  readonly actor?: string;
  /** Only events of this kind, such as `pause_requested` or `values_read`. */
  readonly kind?: string;
  /** The most runs to look at, newest first. Default 500. */
  readonly runs?: number;
  /** The most acts to return. Default 200. */
  readonly limit?: number;
}

/** An act on a run, without values. */
export interface ActLine extends EventLine {
  readonly actor: string;
  readonly workflow: string;
  /** What it was done to, where its kind doesn't say: `input` or `config` of a run that was edited, say. */
  readonly what?: string;
}

export interface ActPage {
  /** Newest first. */
  readonly acts: readonly ActLine[];
  /** Who did anything in the runs that were looked at, and what was done, each with how often. */
  readonly actors: Readonly<Record<string, number>>;
  readonly kinds: Readonly<Record<string, number>>;
  /** The number of runs that were looked at. */
  readonly runs: number;
  /** True when there are more acts or runs than these. */
  readonly more: boolean;
}

const RUNS = 500;
const MOST_RUNS = 10_000;
const LIMIT = 200;
const MOST = 1_000;

/** Acts on the runs of a period; that a worker takes a run is none. The journals of these runs are read, so their number is limited. */
export async function actPage(store: Store, query: ActQuery): Promise<ActPage> {
  const { actor, kind, runs: most = RUNS, limit = LIMIT, ...rest } = query;
  checkWhole("runs", most, 1, MOST_RUNS);
  checkWhole("limit", limit, 1, MOST);
  for (const [name, text] of Object.entries(defined({ actor, kind }))) checkText(name, text);
  const period = await readPeriod(store, rest);
  const found: ActLine[] = [];
  const [actors, kinds] = [new Map<string, number>(), new Map<string, number>()];
  let runs = 0;
  let more = false;
  for await (const row of runsIn(store, rest, period)) {
    more = runs === most;
    if (more) break;
    runs++;
    for await (const act of actsOf(store, row, period)) {
      add(actors, act.actor);
      add(kinds, act.kind);
      if ((actor ?? act.actor) === act.actor && (kind ?? act.kind) === act.kind) found.push(act);
    }
  }
  found.sort((a, b) => b.at - a.at || b.seq - a.seq);
  return {
    acts: found.slice(0, limit),
    actors: Object.fromEntries(actors),
    kinds: Object.fromEntries(kinds),
    runs,
    more: more || found.length > limit,
  };
}

/** Acts on one run within a period, oldest first. */
export async function* actsOf(store: Store, row: RunRow, period: Period): AsyncGenerator<ActLine> {
  for await (const { events, isCopied } of linksOf(store, row))
    for (const event of isCopied ? [] : events)
      if (event.actor !== undefined && event.kind !== "run_claimed" && isWithin(period, event.at))
        yield {
          ...lineOf(row.id, event),
          actor: event.actor,
          workflow: row.workflow,
          ...defined({ what: whatOf(event) }),
        };
}

const whatOf = ({ step, meta }: JournalEvent): string | undefined =>
  step === "" && "what" in meta && typeof meta.what === "string" ? meta.what : undefined;

const add = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1);
};
