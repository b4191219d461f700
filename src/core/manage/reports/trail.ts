import { defined } from "../../defined.ts";
import { digest } from "../../hash.ts";
import type { EventKind, JournalEvent } from "../../journal/events.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { readRow } from "../../journal/positions.ts";
import type { Origin, Parent, RunStatus } from "../../types.ts";
import type { Problem } from "../checkpoints/problem.ts";
import { validateRun } from "../checkpoints/validate.ts";
import { linksOf } from "./period.ts";

/** An event of a run, from its head only: it contains no value, and exists as long as the run does. */
export type TrailLine = JournalEvent & {
  readonly data?: never;
  readonly reason?: string;
  /** The hash of the journal entry that holds it; each entry names the hash of the previous one. */
  readonly entry: string;
};

/** The acts of one person, or one outside program, on a run. */
export interface TrailActor {
  readonly actor: string;
  readonly acts: Readonly<Partial<Record<EventKind, number>>>;
}

/** Everything that happened in a run, who did it and why; and whether the record of it is intact. */
export interface AuditTrail {
  readonly run: string;
  readonly workflow: string;
  readonly version: string;
  readonly status: RunStatus;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly parent: Parent | null;
  readonly origin: Origin | null;
  /** The end of the chain: a copy kept elsewhere can prove later that nothing before it was changed. */
  readonly head: string;
  readonly verified: boolean;
  readonly problems: readonly Problem[];
  readonly actors: readonly TrailActor[];
  readonly lines: readonly TrailLine[];
}

export async function auditTrail(
  { store, values }: Pick<EngineParts, "store" | "values">,
  runId: string,
): Promise<AuditTrail> {
  const row = await readRow(store, runId);
  const { id, workflow, version, status, createdAt, finishedAt, parent, origin, head } = row;
  const { ok, problems } = await validateRun({ store, values }, row, row.seq);
  const lines: TrailLine[] = [];
  for await (const { entry, events } of linksOf(store, row)) {
    const hash = digest(entry.head);
    for (const event of events) lines.push(lineOf(event, hash, entry.data === null));
  }
  const facts = { workflow, version, status, createdAt, finishedAt, parent, origin, head };
  return { run: id, ...facts, verified: ok, problems, actors: actorsOf(lines), lines };
}

/** Heads are read without values; the values are really gone only if the entry has none. */
function lineOf({ data: _, dropped, ...head }: JournalEvent, entry: string, isEmpty: boolean): TrailLine {
  const reason = "reason" in head.meta ? head.meta.reason : undefined;
  const gone = dropped && isEmpty ? { dropped } : {};
  return { ...head, ...gone, ...defined({ reason }), entry } as TrailLine;
}

function actorsOf(lines: readonly TrailLine[]): TrailActor[] {
  const acts = new Map<string, Partial<Record<EventKind, number>>>();
  for (const { actor, kind } of lines) {
    if (actor === undefined) continue;
    const own = acts.get(actor) ?? {};
    acts.set(actor, own);
    own[kind] = (own[kind] ?? 0) + 1;
  }
  return [...acts].map(([actor, done]) => ({ actor, acts: done }));
}
